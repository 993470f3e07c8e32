/** A worker that keeps a sandbox warm until it is killed; says so on stdout. The owner is the first argument. */
import { openDockerSandbox } from '#providers/sandbox/docker.ts';
import { dataDir, engine, roomy } from './fixture.ts';

const [owner = ''] = process.argv.slice(2);
if (!engine) throw new Error('No container engine answers.');
const warm = { count: 1, limits: roomy, info: (text: string) => console.log(text) };
await openDockerSandbox({ docker: engine, dataDir, owner, onProgress: () => {}, warm });
setInterval(() => {}, 1_000);
