// Follows a server with go-mysql's canal and prints every changed row, as testkit's module `reader` takes them.
//
//	canal PORT USER PASSWORD FLAVOR TABLE: from the beginning of the binary log until a row comes to TABLE.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/canal"
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/schema"
)

type printer struct {
	canal.DummyEventHandler
	out    *bufio.Writer
	last   string
	follow *canal.Canal
}

func (p *printer) String() string { return "printer" }

// OnRow prints an update as the row before and the row after.
func (p *printer) OnRow(event *canal.RowsEvent) error {
	for i, row := range event.Rows {
		sign := "+"
		if event.Action == canal.DeleteAction || event.Action == canal.UpdateAction && i%2 == 0 {
			sign = "-"
		}
		fmt.Fprintf(p.out, "%s\t%s.%s", sign, event.Table.Schema, event.Table.Name)
		for at, value := range row {
			fmt.Fprintf(p.out, "\t%s", text(&event.Table.Columns[at], value))
		}
		fmt.Fprintln(p.out)
	}
	if event.Table.Schema+"."+event.Table.Name == p.last {
		go p.follow.Close()
	}
	return p.out.Flush()
}

var escapes = strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n")

func text(column *schema.TableColumn, value any) string {
	if value == nil {
		return "\\N"
	}
	switch column.Type {
	case schema.TYPE_ENUM:
		if at, ok := value.(int64); ok && at > 0 {
			return escapes.Replace(column.EnumValues[at-1])
		}
		return ""
	case schema.TYPE_SET:
		var members []string
		for at, name := range column.SetValues {
			if value.(int64)&(1<<at) != 0 {
				members = append(members, name)
			}
		}
		return escapes.Replace(strings.Join(members, ","))
	case schema.TYPE_BIT:
		return fmt.Sprint(uint64(value.(int64)))
	case schema.TYPE_BINARY:
		return strings.ToUpper(hex.EncodeToString(bytes(value)))
	}
	if raw := column.RawType; strings.HasSuffix(raw, "blob") {
		return strings.ToUpper(hex.EncodeToString(bytes(value)))
	}
	switch value := value.(type) {
	case []byte:
		return escapes.Replace(string(value))
	default:
		return escapes.Replace(fmt.Sprint(value))
	}
}

func bytes(value any) []byte {
	if text, ok := value.(string); ok {
		return []byte(text)
	}
	return value.([]byte)
}

func main() {
	config := canal.NewDefaultConfig()
	config.Addr = "127.0.0.1:" + os.Args[1]
	config.User, config.Password, config.Flavor = os.Args[2], os.Args[3], os.Args[4]
	config.ServerID = 4711
	config.Dump.ExecutionPath = ""
	config.TimestampStringLocation = time.UTC
	config.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	follow, err := canal.NewCanal(config)
	if err == nil {
		follow.SetEventHandler(&printer{out: bufio.NewWriter(os.Stdout), last: os.Args[5], follow: follow})
		err = start(follow, config.Flavor)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start follows by GTID from the empty set where the server has MySQL's GTIDs, else from the first file.
func start(follow *canal.Canal, flavor string) error {
	if flavor == mysql.MySQLFlavor && len(os.Args) > 6 && os.Args[6] == "gtid" {
		none, err := mysql.ParseGTIDSet(flavor, "00000000-0000-0000-0000-000000000001:1")
		if err != nil {
			return err
		}
		return follow.StartFromGTID(none)
	}
	logs, err := follow.Execute("SHOW BINARY LOGS")
	if err != nil {
		return err
	}
	name, err := logs.GetString(0, 0)
	if err != nil {
		return err
	}
	return follow.RunFrom(mysql.Position{Name: name, Pos: 4})
}
