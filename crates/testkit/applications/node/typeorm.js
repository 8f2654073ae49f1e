// TypeORM: entities of every type are synchronized, filled and changed, and migrations are run forth and back.
// Words: the server's port, its user, his password, a database that is there and empty, and mysql or mariadb.
require("reflect-metadata");
const { DataSource, EntitySchema, Table, TableColumn, TableForeignKey, TableIndex } = require("typeorm");

const [port, user, password, database, flavor] = process.argv.slice(2);

// The types that it has for MySQL, each with options of its own.
const TYPES = {
  int: { unsigned: true, default: 7 },
  tinyint: { width: 1 },
  smallint: {},
  mediumint: { zerofill: true, unsigned: true },
  bigint: {},
  float: {},
  double: { precision: 12, scale: 3 },
  decimal: { precision: 20, scale: 6, default: "1.5" },
  bit: {},
  boolean: { default: false },
  date: {},
  datetime: { precision: 3, default: () => "CURRENT_TIMESTAMP(3)", onUpdate: "CURRENT_TIMESTAMP(3)" },
  timestamp: { precision: 6, default: () => "CURRENT_TIMESTAMP(6)" },
  time: { precision: 2 },
  year: {},
  char: { length: 9, collation: "utf8mb4_bin" },
  varchar: { length: 77, charset: "latin1", comment: "it's Latin" },
  nvarchar: { length: 20 },
  tinytext: {},
  text: {},
  mediumtext: {},
  longtext: {},
  binary: { length: 4 },
  varbinary: { length: 12 },
  tinyblob: {},
  blob: {},
  mediumblob: {},
  longblob: {},
  enum: { enum: ["a", "b", "it's"], default: "a" },
  set: { enum: ["x", "y", "z"], default: ["x", "y"] },
  json: {},
  geometry: {},
  point: {},
  linestring: {},
  polygon: {},
};

function entities(changed) {
  const columns = { id: { type: "int", primary: true, generated: "increment" } };
  for (const [type, options] of Object.entries(TYPES)) {
    columns[`c_${type}`] = { type, nullable: true, ...options };
  }
  columns.doubled = { type: "int", asExpression: "`c_int` * 2", generatedType: "STORED", nullable: true };
  columns.halved = { type: "int", asExpression: "`c_int` DIV 2", generatedType: "VIRTUAL", nullable: true };
  columns.createdAt = { type: "datetime", createDate: true };
  columns.updatedAt = { type: "datetime", updateDate: true };
  columns.deletedAt = { type: "datetime", deleteDate: true };
  columns.version = { type: "int", version: true };
  if (changed) {
    Object.assign(columns.c_varchar, { length: 150, default: "none" });
    Object.assign(columns.c_smallint, { comment: "changed", default: 4 });
    columns.added = { type: "varchar", length: 20, default: "new" };
    delete columns.c_longblob;
    columns.c_enum.enum = ["a", "b", "it's", "c"];
  }
  const every = new EntitySchema({
    name: "every_type",
    columns,
    relations: { category: { type: "many-to-one", target: "category", onDelete: "CASCADE", nullable: true } },
    indices: [
      { name: "numbers", columns: ["c_int", "c_bigint"], unique: !changed },
      { name: "words", columns: ["c_text"], fulltext: true },
    ],
    checks: [{ name: "small", expression: "`c_tinyint` < 100" }],
  });
  const category = new EntitySchema({
    name: "category",
    columns: {
      id: { type: "int", primary: true, generated: "increment" },
      uuid: { type: "varchar", generated: "uuid" },
      name: { type: "varchar", unique: true },
    },
    relations: { tags: { type: "many-to-many", target: "tag", joinTable: true } },
  });
  const tag = new EntitySchema({
    name: "tag",
    tableName: changed ? "tags" : "tag",
    columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, length: 30 } },
  });
  const names = new EntitySchema({
    name: "names",
    type: "view",
    expression: "SELECT `id`, `name` FROM `category`",
    columns: { id: { type: String }, name: { type: String } },
  });
  return [every, category, tag, names];
}

class Moves1700000000001 {
  name = "Moves1700000000001";
  async up(runner) {
    await runner.createTable(
      new Table({
        name: "moves",
        columns: [
          { name: "id", type: "bigint", isPrimary: true, isGenerated: true, generationStrategy: "increment" },
          { name: "what", type: "varchar", length: "40", isUnique: true },
          { name: "category", type: "int", isNullable: true },
        ],
        checks: [{ name: "not_empty", expression: "`what` <> ''" }],
      }),
    );
    await runner.query("INSERT INTO `moves` (`what`) VALUES ('a'), ('b'), ('ü')");
    await runner.createForeignKey(
      "moves",
      new TableForeignKey({ columnNames: ["category"], referencedTableName: "category", referencedColumnNames: ["id"] }),
    );
  }
  async down(runner) {
    await runner.dropTable("moves", false, true);
  }
}

class Changes1700000000002 {
  name = "Changes1700000000002";
  async up(runner) {
    await runner.addColumn("moves", new TableColumn({ name: "note", type: "json", isNullable: true }));
    await runner.renameColumn("moves", "what", "which");
    await runner.changeColumn(
      "moves",
      "note",
      new TableColumn({ name: "note", type: "text", isNullable: true, comment: "was JSON" }),
    );
    await runner.createIndex("moves", new TableIndex({ name: "by_two", columnNames: ["which", "category"] }));
  }
  async down(runner) {
    await runner.dropIndex("moves", "by_two");
    await runner.renameColumn("moves", "which", "what");
    await runner.dropColumn("moves", "note");
  }
}

const source = (changed) =>
  new DataSource({
    type: flavor,
    host: "127.0.0.1",
    port: Number(port),
    username: user,
    password,
    database,
    entities: entities(changed),
    migrations: [Moves1700000000001, Changes1700000000002],
    migrationsTransactionMode: "each",
  });

async function fill(data) {
  const tags = await data.getRepository("tag").save([{ name: "one" }, { name: "zwei" }]);
  const category = await data.getRepository("category").save({ name: "Ä", tags });
  const every = data.getRepository("every_type");
  for (let number = 0; number < 30; number++) {
    await every.save({
      c_int: number,
      c_bigint: String(2n ** 40n + BigInt(number)),
      c_decimal: `${number}.25`,
      c_text: `words ${number}`,
      c_longtext: "z".repeat(number * 300),
      c_varchar: "ä",
      c_blob: Buffer.from([0, number]),
      c_json: { number, none: null },
      c_point: `POINT(${number} 2)`,
      category: number % 3 ? category : null,
    });
  }
  await every.update({ c_int: 3 }, { c_enum: "it's", c_set: ["z"] });
  await every.softDelete({ c_int: 4 });
  await every.delete({ c_int: 5 });
  await every.increment({ c_int: 6 }, "c_smallint", 2);
  await data.transaction((manager) => manager.update("category", { name: "Ä" }, { name: "B" }));
}

async function main() {
  const first = await source(false).initialize();
  await first.synchronize();
  await fill(first);
  await first.runMigrations();
  await first.undoLastMigration();
  await first.undoLastMigration();
  await first.runMigrations();
  await first.destroy();
  const second = await source(true).initialize();
  await second.synchronize();
  await second.getRepository("every_type").save({ c_int: 100, added: "x" });
  await second.destroy();
  console.log("done");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
