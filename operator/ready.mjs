/** Whether the process behind an address says it is ready, as an exit code: for the health checks of containers. The second word is the host to ask for. */
import { request } from 'node:http';

const [, , url, host] = process.argv;
const asked = request(url, { timeout: 3_000, headers: host ? { host } : {} }, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1);
});
asked.on('error', () => process.exit(1));
asked.on('timeout', () => process.exit(1));
asked.end();
