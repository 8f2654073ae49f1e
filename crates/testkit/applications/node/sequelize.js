// Sequelize: a model of every type is synced, altered and filled, and migrations are run forth and back.
// Words: the server's port, its user, his password, a database that is there and empty.
const { Sequelize, DataTypes, Op } = require("sequelize");

const [port, user, password, database] = process.argv.slice(2);
const sequelize = new Sequelize(database, user, password, {
  host: "127.0.0.1",
  port: Number(port),
  dialect: "mysql",
  logging: false,
});

const EVERY_TYPE = {
  id: { type: DataTypes.BIGINT.UNSIGNED, primaryKey: true, autoIncrement: true },
  string: { type: DataTypes.STRING(100), unique: true, comment: "it's a string" },
  binary: DataTypes.STRING(10).BINARY,
  text: DataTypes.TEXT,
  tiny_text: DataTypes.TEXT("tiny"),
  long_text: DataTypes.TEXT("long"),
  fixed: { type: DataTypes.CHAR(5), defaultValue: "abc" },
  flag: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
  tiny: DataTypes.TINYINT,
  small: DataTypes.SMALLINT.UNSIGNED,
  medium: DataTypes.MEDIUMINT.ZEROFILL,
  number: { type: DataTypes.INTEGER, defaultValue: 0 },
  real: DataTypes.REAL,
  float: DataTypes.FLOAT(11, 3),
  double: DataTypes.DOUBLE,
  price: DataTypes.DECIMAL(14, 4),
  moment: DataTypes.DATE(6),
  day: DataTypes.DATEONLY,
  clock: DataTypes.TIME,
  current: { type: DataTypes.DATE, defaultValue: Sequelize.literal("CURRENT_TIMESTAMP") },
  blob: DataTypes.BLOB("medium"),
  json: DataTypes.JSON,
  uuid: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  choice: { type: DataTypes.ENUM("one", "two", "drei, vier"), defaultValue: "one" },
  place: DataTypes.GEOMETRY("POINT"),
  shape: DataTypes.GEOMETRY,
};

function models() {
  const every = sequelize.define("every_type", EVERY_TYPE, {
    paranoid: true,
    version: true,
    comment: "one of each",
    indexes: [
      { fields: ["number", { name: "string", length: 10, order: "DESC" }] },
      { fields: ["text"], type: "FULLTEXT", name: "words" },
      { fields: ["uuid"], unique: true },
    ],
  });
  const owner = sequelize.define("owner", { name: DataTypes.STRING });
  const tag = sequelize.define("tag", { name: DataTypes.STRING }, { charset: "utf8mb4", collate: "utf8mb4_bin" });
  every.belongsTo(owner, { onDelete: "SET NULL" });
  owner.hasMany(every);
  every.belongsToMany(tag, { through: "every_tag" });
  tag.belongsToMany(every, { through: "every_tag" });
  return { every, owner, tag };
}

async function fill({ every, owner, tag }) {
  const [someone, other] = await owner.bulkCreate([{ name: "Jürgen" }, { name: "O'Neil" }]);
  for (let number = 0; number < 30; number++) {
    const row = await every.create({
      string: `s${number}`,
      text: `some words ${number}`,
      long_text: "x".repeat(number * 400),
      medium: number,
      float: number / 7,
      price: number * 1.0001,
      moment: new Date(1700000000000 + number),
      day: "2026-02-03",
      blob: Buffer.from([0, number, 255]),
      json: { number, list: [null, true, "ü"] },
      place: { type: "Point", coordinates: [number, -number] },
      ownerId: number % 2 ? someone.id : other.id,
    });
    await row.addTag(await tag.create({ name: `tag ${number}` }));
  }
  await every.update({ choice: "drei, vier" }, { where: { number: 0, medium: { [Op.lt]: 10 } } });
  await every.increment("number", { by: 5, where: { medium: { [Op.gt]: 3 } } });
  await every.destroy({ where: { medium: [5, 6] } });
  await every.upsert({ id: 1, string: "s0", number: 99 });
  await sequelize.transaction(async (transaction) => {
    await other.destroy({ transaction });
    await tag.destroy({ where: { name: "tag 7" }, transaction });
  });
}

const MIGRATIONS = [
  {
    up: async (query) => {
      await query.createTable("migrated", {
        id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
        name: { type: DataTypes.STRING, allowNull: false },
        owner_id: { type: DataTypes.INTEGER, references: { model: "owners", key: "id" }, onUpdate: "CASCADE" },
      });
      await query.bulkInsert("migrated", [{ name: "a" }, { name: "b", owner_id: 1 }, { name: "c" }]);
    },
    down: (query) => query.dropTable("migrated"),
  },
  {
    up: async (query) => {
      await query.addColumn("migrated", "added", { type: DataTypes.JSON, after: "name" });
      await query.addColumn("migrated", "state", { type: DataTypes.ENUM("on", "off"), defaultValue: "on" });
      await query.changeColumn("migrated", "name", { type: DataTypes.TEXT, allowNull: true, comment: "longer" });
      await query.renameColumn("migrated", "state", "status");
    },
    down: async (query) => {
      await query.renameColumn("migrated", "status", "state");
      await query.changeColumn("migrated", "name", { type: DataTypes.STRING, allowNull: false });
      await query.removeColumn("migrated", "state");
      await query.removeColumn("migrated", "added");
    },
  },
  {
    up: async (query) => {
      await query.addIndex("migrated", ["status", "owner_id"], { name: "by_status", unique: false });
      await query.addConstraint("migrated", { fields: ["status", "id"], type: "unique", name: "of_status" });
      await query.bulkUpdate("migrated", { status: "off" }, { owner_id: 1 });
    },
    down: async (query) => {
      await query.removeConstraint("migrated", "of_status");
      await query.removeIndex("migrated", "by_status");
    },
  },
];

async function main() {
  const made = models();
  await sequelize.sync({ force: true });
  await fill(made);
  EVERY_TYPE.string.type = DataTypes.STRING(200);
  EVERY_TYPE.later = { type: DataTypes.INTEGER, defaultValue: 3 };
  EVERY_TYPE.text = { type: DataTypes.TEXT("medium"), allowNull: false, defaultValue: undefined };
  models();
  await sequelize.sync({ alter: true });
  const query = sequelize.getQueryInterface();
  for (const migration of MIGRATIONS) await migration.up(query);
  for (const migration of [...MIGRATIONS].reverse()) await migration.down(query);
  for (const migration of MIGRATIONS) await migration.up(query);
  await query.renameTable("migrated", "migrated_again");
  await sequelize.close();
  console.log("done");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
