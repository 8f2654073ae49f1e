// Knex: migrations that use all that its schema builder has for MySQL, run forth, back and forth again.
// Words: the server's port, its user, his password, a database that is there and empty.
const [port, user, password, database] = process.argv.slice(2);
const knex = require("knex")({
  client: "mysql2",
  connection: { host: "127.0.0.1", port: Number(port), user, password, database, timezone: "Z" },
});

const MIGRATIONS = {
  async "1_every_type"(session) {
    await session.schema.createTable("owners", (table) => {
      table.increments("id");
      table.string("name", 60).notNullable().unique();
      table.timestamps(true, true);
    });
    await session.schema.createTable("every_type", (table) => {
      table.bigIncrements("id");
      table.integer("number").unsigned().index();
      table.tinyint("tiny", 1);
      table.smallint("small");
      table.mediumint("medium");
      table.bigint("big");
      table.text("text", "longtext");
      table.string("word", 40).collate("utf8mb4_bin").defaultTo("it's");
      table.float("float", 10, 3);
      table.double("double");
      table.decimal("price", 14, 5).defaultTo(1.5);
      table.boolean("flag").defaultTo(true);
      table.date("day");
      table.datetime("moment", { precision: 6 }).defaultTo(knex.fn.now(6));
      table.time("clock");
      table.timestamp("stamp").nullable();
      table.binary("bytes", 16);
      table.binary("blob");
      table.enu("choice", ["a", "b", "its"]).comment("one of three");
      table.json("json");
      table.uuid("uuid");
      table.geometry("shape");
      table.point("place");
      table.specificType("bits", "bit(9)");
      table.specificType("several", "set('x','y')");
      table.integer("owner_id").unsigned().references("owners.id").onDelete("CASCADE");
      table.unique(["word", "number"], { indexName: "word_and_number" });
      table.check("?? >= ??", ["number", "tiny"], "larger");
      table.comment("one of each");
      table.charset("utf8mb4");
    });
  },
  async "2_rows"() {
    await knex("owners").insert([{ name: "Ä" }, { name: "日本" }]);
    for (let number = 1; number <= 30; number++) {
      await knex("every_type").insert({
        number,
        tiny: 1,
        word: `w${number}`,
        text: "y".repeat(number * 300),
        bytes: Buffer.from([number, 0]),
        json: JSON.stringify({ number }),
        uuid: knex.fn.uuid(),
        choice: "its",
        place: knex.raw("ST_GeomFromText('POINT(1 2)')"),
        bits: number,
        several: "x,y",
        owner_id: 1 + (number % 2),
      });
    }
    await knex("every_type").where("number", ">", 10).increment("big", 3);
    await knex("every_type").where({ id: 3 }).update({ text: null, flag: false });
    await knex("owners").insert({ id: 1, name: "other" }).onConflict("id").merge();
    await knex("owners").insert({ id: 2, name: "same" }).onConflict("id").ignore();
  },
  async "3_alter"(session) {
    await session.schema.alterTable("every_type", (table) => {
      table.string("word", 200).nullable().alter();
      table.dropColumn("blob");
      table.renameColumn("small", "smaller");
      table.string("added").after("number").defaultTo("x");
      table.integer("first").first();
      table.index(["day", "clock"], "when");
      table.dropForeign("owner_id");
    });
    await session.schema.alterTable("every_type", (table) => {
      table.foreign("owner_id", "again").references("id").inTable("owners").onDelete("SET NULL").onUpdate("CASCADE");
      table.setNullable("flag");
      table.dropChecks("larger");
      table.dropUnique(["word", "number"], "word_and_number");
      table.unique(["uuid"]);
    });
    await session.schema.renameTable("owners", "people");
    await knex("people").where({ id: 2 }).delete();
  },
  async "4_views"(session) {
    await session.schema.createView("few", (view) => {
      view.columns(["id", "word"]);
      view.as(knex("every_type").select("id", "word").where("number", "<", "5"));
    });
    await session.schema.createViewOrReplace("few", (view) => {
      view.columns(["id", "word"]);
      view.as(knex("every_type").select("id", "word").where("number", "<", "7"));
    });
    await session.schema.createTableLike("copy", "every_type", (table) => table.string("more"));
    await knex.raw("INSERT INTO copy (number, word) SELECT number, word FROM every_type");
  },
};

const DOWN = {
  async "1_every_type"(session) {
    await session.schema.dropTable("every_type").dropTableIfExists("owners");
  },
  async "2_rows"() {
    await knex("every_type").delete();
    await knex("owners").truncate().catch(() => knex("owners").delete());
  },
  async "3_alter"(session) {
    await session.schema.renameTable("people", "owners");
    await session.schema.alterTable("every_type", (table) => {
      table.dropUnique(["uuid"]);
      table.dropForeign("owner_id", "again");
      table.dropColumns("added", "first");
      table.renameColumn("smaller", "small");
      table.dropIndex(["day", "clock"], "when");
      table.binary("blob");
    });
  },
  async "4_views"(session) {
    await session.schema.dropView("few").dropTable("copy");
  },
};

const source = {
  getMigrations: async () => Object.keys(MIGRATIONS),
  getMigrationName: (name) => name,
  getMigration: (name) => ({
    up: (session) => MIGRATIONS[name](session),
    down: (session) => DOWN[name](session),
    config: { transaction: false },
  }),
};

async function main() {
  const settings = { migrationSource: source };
  await knex.migrate.latest(settings);
  await knex.migrate.rollback(settings, true);
  await knex.migrate.latest(settings);
  await knex.destroy();
  console.log("done");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
