/** A process that runs a stack in the given folder, as `npm start` does: it sends its addresses and waits for SIGTERM. */
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
