import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Follows a server with Debezium's engine and MySQL connector, from a snapshot on, and prints every changed row, as testkit's
 * module {@code reader} takes them. Arguments: port, user, password, and the table at whose first row it ends.
 */
public final class Follow {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    public static void main(String[] words) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicReference<String> failure = new AtomicReference<>();
        DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine = DebeziumEngine.create(Connect.class)
            .using(settings(words))
            .using((success, message, error) -> {
                if (!success) {
                    failure.set(message);
                    if (error != null) {
                        error.printStackTrace();
                    }
                }
                ended.countDown();
            })
            .notifying(event -> {
                if (tell(event.value()).equals(words[3])) {
                    ended.countDown();
                }
            })
            .build();
        Thread runner = new Thread(engine, "engine");
        runner.setDaemon(true);
        runner.start();
        ended.await();
        OUT.flush();
        if (failure.get() != null) {
            System.err.println(failure.get());
            System.exit(1);
        }
        // What it would do at its leisure on the way out is of no interest.
        Runtime.getRuntime().halt(0);
    }

    private static Properties settings(String[] words) {
        Properties settings = new Properties();
        String[][] all = {
            {"name", "reader"},
            {"connector.class", "io.debezium.connector.mysql.MySqlConnector"},
            {"offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore"},
            {"schema.history.internal", "io.debezium.relational.history.MemorySchemaHistory"},
            {"topic.prefix", "reader"},
            {"database.hostname", "127.0.0.1"},
            {"database.port", words[0]},
            {"database.user", words[1]},
            {"database.password", words[2]},
            {"database.server.id", "4713"},
            {"database.include.list", "every"},
            {"decimal.handling.mode", "string"},
            {"bigint.unsigned.handling.mode", "precise"},
            {"enable.time.adjuster", "false"},
            {"include.schema.changes", "false"},
            {"column.propagate.source.type", ".*"},
            {"tombstones.on.delete", "false"},
            {"poll.interval.ms", "50"},
        };
        for (String[] one : all) {
            settings.setProperty(one[0], one[1]);
        }
        return settings;
    }

    /** Prints the rows of a change and returns the table. */
    private static String tell(SourceRecord record) {
        if (!(record.value() instanceof Struct change) || change.schema().field("source") == null) {
            return "";
        }
        Struct source = change.getStruct("source");
        String table = source.getString("db") + "." + source.getString("table");
        tell("-", table, change.getStruct("before"));
        tell("+", table, change.getStruct("after"));
        return table;
    }

    private static void tell(String sign, String table, Struct row) {
        if (row != null) {
            List<Field> fields = row.schema().fields();
            String values = fields.stream().map(field -> text(row.get(field), field.schema())).collect(Collectors.joining("\t"));
            OUT.print(sign + "\t" + table + "\t" + values + "\n");
            OUT.flush();
        }
    }

    private static String text(Object value, Schema schema) {
        if (value == null) {
            return "\\N";
        }
        String type = schema.name() == null ? "" : schema.name().substring(schema.name().lastIndexOf('.') + 1);
        return switch (type) {
            case "Date" -> LocalDate.ofEpochDay((Integer) value).toString();
            case "MicroTime" -> time((Long) value, digits(schema));
            case "Timestamp" -> moment(Instant.ofEpochMilli((Long) value), digits(schema));
            case "MicroTimestamp" -> moment(ofMicroseconds((Long) value), digits(schema));
            case "ZonedTimestamp" -> moment(OffsetDateTime.parse((String) value).toInstant(), digits(schema));
            case "Bits" -> bits((byte[]) value);
            // A snapshot has it as the server prints it, the binary log as Debezium does.
            case "Json" -> plain(compact((String) value));
            case "Decimal" -> ((BigDecimal) value).toPlainString();
            default -> plain(value);
        };
    }

    private static String compact(String document) {
        try {
            return JSON.readTree(document).toString();
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(document, error);
        }
    }

    private static String plain(Object value) {
        if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return HexFormat.of().withUpperCase().formatHex(bytes);
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().withUpperCase().formatHex(bytes);
        }
        return value.toString().replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
    }

    /** Digits of the fraction of a second that the column has. */
    private static int digits(Schema schema) {
        String length = schema.parameters() == null ? null : schema.parameters().get("__debezium.source.column.length");
        return length == null ? 0 : Integer.parseInt(length);
    }

    private static Instant ofMicroseconds(long microseconds) {
        return Instant.ofEpochSecond(Math.floorDiv(microseconds, 1_000_000), Math.floorMod(microseconds, 1_000_000) * 1000);
    }

    private static String moment(Instant at, int digits) {
        return SECONDS.format(at.atOffset(ZoneOffset.UTC)) + fraction(at.getNano() / 1000, digits);
    }

    private static String time(long microseconds, int digits) {
        long all = Math.abs(microseconds);
        long seconds = all / 1_000_000;
        String sign = microseconds < 0 ? "-" : "";
        return String.format("%s%02d:%02d:%02d", sign, seconds / 3600, seconds / 60 % 60, seconds % 60)
            + fraction((int) (all % 1_000_000), digits);
    }

    private static String fraction(int microseconds, int digits) {
        return digits == 0 ? "" : "." + String.format("%06d", microseconds).substring(0, digits);
    }

    /** The lowest byte comes first. */
    private static String bits(byte[] bytes) {
        BigInteger number = BigInteger.ZERO;
        for (int at = bytes.length - 1; at >= 0; at--) {
            number = number.shiftLeft(8).or(BigInteger.valueOf(bytes[at] & 0xff));
        }
        return number.toString();
    }
}
