import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets an application make its schema in an empty database, and do something in it. Words: the application, the server's
 * port, its user, his password, the database, and mysql or mariadb.
 */
public class Application {
  static String url;
  static String user;
  static String password;
  static String flavor;

  public static void main(String[] words) throws Exception {
    boolean ofMariaDb = words[5].equals("mariadb");
    String options = ofMariaDb ? "" : "?sslMode=DISABLED&allowPublicKeyRetrieval=true&nullCatalogMeansCurrent=true";
    url = "jdbc:" + words[5] + "://127.0.0.1:" + words[1] + "/" + words[4] + options;
    user = words[2];
    password = words[3];
    flavor = words[5];
    switch (words[0]) {
      case "quartz" -> quartz();
      case "spring" -> spring();
      case "camunda" -> camunda();
      case "flowable" -> flowable();
      case "keycloak" -> keycloak();
      case "camunda_liquibase" -> liquibase("org/camunda/bpm/engine/db/liquibase/camunda-changelog.xml");
      default -> throw new IllegalArgumentException(words[0]);
    }
    System.out.println("done");
    System.exit(0);
  }

  static Connection connect() throws Exception {
    return DriverManager.getConnection(url, user, password);
  }

  /** Runs a script of a jar, statement by statement. */
  static void script(String resource) throws Exception {
    String text;
    try (InputStream stream = Application.class.getClassLoader().getResourceAsStream(resource)) {
      text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      for (String sql : text.replaceAll("(?m)^(--|#).*$", "").split(";\\s*(\\n|$)")) {
        if (!sql.isBlank()) {
          statement.execute(sql.strip());
        }
      }
    }
  }

  public static final CountDownLatch RUN = new CountDownLatch(10);

  /** A job that counts. */
  public static class Counting implements org.quartz.Job {
    @Override
    public void execute(org.quartz.JobExecutionContext context) {
      RUN.countDown();
    }
  }

  static void quartz() throws Exception {
    script("org/quartz/impl/jdbcjobstore/tables_mysql.sql");
    script("org/quartz/impl/jdbcjobstore/tables_mysql_innodb.sql");
    Properties properties = new Properties();
    String source = "org.quartz.dataSource.made.";
    properties.putAll(Map.of(
        "org.quartz.scheduler.instanceName", "tried",
        "org.quartz.scheduler.instanceId", "AUTO",
        "org.quartz.threadPool.threadCount", "3",
        "org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX",
        "org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.StdJDBCDelegate",
        "org.quartz.jobStore.isClustered", "true",
        "org.quartz.jobStore.dataSource", "made",
        source + "connectionProvider.class", "Application$Connections"));
    org.quartz.Scheduler scheduler = new org.quartz.impl.StdSchedulerFactory(properties).getScheduler();
    for (int number = 0; number < 10; number++) {
      org.quartz.JobDetail job = org.quartz.JobBuilder.newJob(Counting.class)
          .withIdentity("job" + number, "ü").usingJobData("number", number).storeDurably().build();
      org.quartz.ScheduleBuilder<?> often = number % 2 == 0
          ? org.quartz.SimpleScheduleBuilder.repeatSecondlyForTotalCount(2, 1)
          : org.quartz.CronScheduleBuilder.cronSchedule("* * * * * ?");
      scheduler.scheduleJob(job, org.quartz.TriggerBuilder.newTrigger()
          .withIdentity("trigger" + number).withSchedule(often).build());
    }
    scheduler.start();
    if (!RUN.await(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the jobs have not run");
    }
    scheduler.pauseAll();
    scheduler.deleteJob(new org.quartz.JobKey("job3", "ü"));
    scheduler.shutdown(true);
  }

  /** Quartz's way to connections. */
  public static class Connections implements org.quartz.utils.ConnectionProvider {
    @Override
    public Connection getConnection() throws java.sql.SQLException {
      return DriverManager.getConnection(url, user, password);
    }

    @Override
    public void shutdown() {}

    @Override
    public void initialize() {}
  }

  static void spring() throws Exception {
    script("org/springframework/batch/core/schema-" + flavor + ".sql");
    script("org/springframework/batch/core/schema-drop-" + flavor + ".sql");
    script("org/springframework/batch/core/schema-" + flavor + ".sql");
    script("org/springframework/session/jdbc/schema-mysql.sql");
    var source = new org.springframework.jdbc.datasource.DriverManagerDataSource(url, user, password);
    var transactions = new org.springframework.jdbc.support.JdbcTransactionManager(source);
    var repository = new org.springframework.session.jdbc.JdbcIndexedSessionRepository(
        new org.springframework.jdbc.core.JdbcTemplate(source),
        new org.springframework.transaction.support.TransactionTemplate(transactions));
    sessions(repository);
    repository.cleanUpExpiredSessions();
    var factory = new org.springframework.batch.core.repository.support.JdbcJobRepositoryFactoryBean();
    factory.setDataSource(source);
    factory.setTransactionManager(transactions);
    factory.setDatabaseType(flavor);
    factory.afterPropertiesSet();
    var jobs = factory.getObject();
    for (int number = 0; number < 5; number++) {
      var parameters = new org.springframework.batch.core.job.parameters.JobParametersBuilder()
          .addLong("number", (long) number).addString("name", "ü").toJobParameters();
      var execution = jobs.createJobExecution(
          jobs.createJobInstance("job", parameters), parameters,
          new org.springframework.batch.infrastructure.item.ExecutionContext());
      execution.setStatus(org.springframework.batch.core.BatchStatus.COMPLETED);
      execution.setEndTime(java.time.LocalDateTime.now());
      jobs.update(execution);
    }
  }

  static <S extends org.springframework.session.Session> void sessions(
      org.springframework.session.SessionRepository<S> repository) {
    for (int number = 0; number < 20; number++) {
      S session = repository.createSession();
      session.setAttribute("name", "Jürgen " + number);
      session.setAttribute("bytes", new byte[number * 100]);
      session.setMaxInactiveInterval(number % 4 == 0 ? Duration.ofSeconds(0) : Duration.ofHours(1));
      repository.save(session);
      session.setAttribute("name", number % 3 == 0 ? null : "O'Neil");
      repository.save(session);
    }
  }

  static final String PROCESS = """
      <?xml version="1.0" encoding="UTF-8"?>
      <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tried"
          xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
        <process id="tried" isExecutable="true" camunda:historyTimeToLive="1">
          <startEvent id="start"/>
          <sequenceFlow id="a" sourceRef="start" targetRef="ask"/>
          <userTask id="ask" name="Fragt „wen?“"/>
          <sequenceFlow id="b" sourceRef="ask" targetRef="end"/>
          <endEvent id="end"/>
        </process>
      </definitions>
      """;

  static void camunda() {
    var configuration = new org.camunda.bpm.engine.impl.cfg.StandaloneProcessEngineConfiguration();
    configuration.setSkipIsolationLevelCheck(true);
    var engine = configuration.setJdbcUrl(url).setJdbcUsername(user).setJdbcPassword(password)
        .setJdbcDriver(flavor.equals("mariadb") ? "org.mariadb.jdbc.Driver" : "com.mysql.cj.jdbc.Driver")
        .setDatabaseSchemaUpdate("true").setHistory("full").setJobExecutorActivate(false).buildProcessEngine();
    engine.getRepositoryService().createDeployment().addString("tried.bpmn", PROCESS).name("日本").deploy();
    for (int number = 0; number < 10; number++) {
      engine.getRuntimeService().startProcessInstanceByKey("tried", Map.of("number", number, "text", "ü".repeat(3000)));
    }
    engine.getTaskService().createTaskQuery().list().stream().limit(5).forEach(task -> {
      engine.getTaskService().claim(task.getId(), "somebody");
      engine.getTaskService().complete(task.getId());
    });
    engine.close();
  }

  static void flowable() {
    var engine = org.flowable.engine.ProcessEngineConfiguration.createStandaloneProcessEngineConfiguration()
        .setJdbcUrl(url).setJdbcUsername(user).setJdbcPassword(password)
        .setJdbcDriver(flavor.equals("mariadb") ? "org.mariadb.jdbc.Driver" : "com.mysql.cj.jdbc.Driver")
        .setDatabaseSchemaUpdate("true").buildProcessEngine();
    engine.getRepositoryService().createDeployment().addString("tried.bpmn20.xml", PROCESS).name("日本").deploy();
    for (int number = 0; number < 10; number++) {
      engine.getRuntimeService().startProcessInstanceByKey("tried", Map.of("number", number, "text", "ü".repeat(5000)));
    }
    engine.getTaskService().createTaskQuery().list().stream().limit(5).forEach(task -> {
      engine.getTaskService().claim(task.getId(), "somebody");
      engine.getTaskService().complete(task.getId());
    });
    engine.close();
  }

  /** Keycloak's change sets ask for a session, and for nothing of it as long as there is no realm. */
  static void keycloak() throws Exception {
    var session = (org.keycloak.models.KeycloakSession) java.lang.reflect.Proxy.newProxyInstance(
        Application.class.getClassLoader(),
        new Class<?>[] {org.keycloak.models.KeycloakSession.class},
        (proxy, method, words) -> null);
    org.keycloak.connections.jpa.updater.liquibase.ThreadLocalSessionContext.setCurrentSession(session);
    liquibase("META-INF/jpa-changelog-master.xml");
  }

  /** Runs a change log, change set by change set. */
  static void liquibase(String changeLog) throws Exception {
    try (Connection connection = connect()) {
      var database = liquibase.database.DatabaseFactory.getInstance()
          .findCorrectDatabaseImplementation(new liquibase.database.jvm.JdbcConnection(connection));
      var accessor = new liquibase.resource.ClassLoaderResourceAccessor(Application.class.getClassLoader());
      new liquibase.Liquibase(changeLog, accessor, database).update(new liquibase.Contexts());
    }
  }
}
