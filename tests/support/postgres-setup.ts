import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { Cluster, POSTGRES_LEFT_OUT, postgresPrograms } from './postgres.ts';

/** One database for all tests that run on files and on PostgreSQL; whoever is `on-postgres` finds its address. */
export default async function setup(): Promise<() => Promise<void>> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error(POSTGRES_LEFT_OUT);
  const cluster = await Cluster.start(programs, ['max_connections=1000']);
  const address = cluster.address(await cluster.database());
  const database = await Database.at(address);
  await migrate(database);
  await database.close();
  process.env['BMAD_TEST_DATABASE'] = address;
  // A run that ends before its time asks nobody to clear up.
  process.once('exit', () => void cluster.remove());
  return () => cluster.remove();
}
