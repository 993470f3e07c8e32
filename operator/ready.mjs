/** Exits with 0 if the URL returns 200: for container health checks. The second argument is the Host header. */
import { request } from 'node:http';

const [, , url, host] = process.argv;
const asked = request(url, { timeout: 3_000, headers: host ? { host } : {} }, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1);
});
asked.on('error', () => process.exit(1));
asked.on('timeout', () => process.exit(1));
asked.end();
