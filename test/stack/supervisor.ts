/** A process that runs a stack in the folder it is given, as `npm start` does: tells its addresses, waits to be ended. */
import { type ProcessName, startStack } from '#tools/local/stack.ts';

const [dataDir = '', processes = ''] = process.argv.slice(2);

const stack = await startStack({
  dataDir,
  durable: false,
  processes: processes.split(',').filter(Boolean) as ProcessName[],
});
const stop = async () => {
  await stack.stop();
  process.disconnect?.();
};
process.once('SIGTERM', () => void stop());
const names = ['postgres', 'temporal', 'mail', 'api', 'worker', 'edge'] as const;
process.send?.({
  databaseUrl: stack.databaseUrl,
  baseUrl: stack.baseUrl,
  pids: names.flatMap((name) => stack.pid(name) ?? []),
});
