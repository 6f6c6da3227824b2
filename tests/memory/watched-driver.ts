import { sqliteDriver, type Driver } from '../../src/services/memory/sqlite/database.ts';

type Use = 'prepare' | 'run' | 'get' | 'iterate';

/** The real driver; `look` sees each statement before it is used, and may fail it. */
export async function watchedDriver(
  look: (use: Use, sql: string, values: readonly unknown[]) => void,
): Promise<Driver> {
  const driver = await sqliteDriver();
  return {
    ...driver,
    connect(...args) {
      const connection = driver.connect(...args);
      return {
        exec: (sql) => connection.exec(sql),
        close: () => connection.close(),
        prepare(sql) {
          look('prepare', sql, []);
          const statement = connection.prepare(sql);
          return {
            run(...values) {
              look('run', sql, values);
              return statement.run(...values);
            },
            get(...values) {
              look('get', sql, values);
              return statement.get(...values);
            },
            iterate(...values) {
              look('iterate', sql, values);
              return statement.iterate(...values);
            },
          };
        },
      };
    },
  };
}
