/** An S3 server on this machine, where versitygw is installed: buckets are folders, objects are files. */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathOf } from '#test/stack/requirements.ts';
import { makeRunFolder, memoryRoot, removeRunFolder } from '#test/stack/run-folder.ts';
import { until } from '#test/stack/until.ts';
import { freePort } from '#tools/local/ports.ts';
import { type Daemon, startDaemon } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';

const command = await pathOf('versitygw');
const credentials = { accessKeyId: 'frontage', secretAccessKey: 'not-a-secret-of-anybody' };

export type S3Server = Awaited<ReturnType<typeof startS3>>;

/** `wrap`: a shell's line before the program, to give it less than it wants. */
export async function startS3({ wrap = '' } = {}) {
  const folder = makeRunFolder(memoryRoot());
  const dir = join(folder, 'buckets');
  await mkdir(dir);
  const port = await freePort();
  const records = openRunRecords(join(folder, 'run'));
  let daemon: Daemon;

  async function start(): Promise<void> {
    const line = `${wrap} exec "$0" --port 127.0.0.1:${port} --quiet posix "$1"`;
    daemon = await startDaemon({
      command: '/bin/sh',
      args: ['-c', line, command, dir],
      env: {
        PATH: process.env.PATH,
        ROOT_ACCESS_KEY: credentials.accessKeyId,
        ROOT_SECRET_KEY: credentials.secretAccessKey,
      },
      logFile: join(folder, 's3.log'),
      stopSignal: 'SIGTERM',
      stopGraceMs: 2_000,
      onSpawn: (id) => records.add({ name: 's3', stopSignal: 'SIGKILL', ...id }),
    });
    await until(
      () => answersOn(port),
      (answers) => answers,
    );
  }

  await start();
  return {
    dir,
    port,
    address: { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials },
    /** SIGKILL, and up again on the same port with what it had. */
    kill: () => daemon.kill(),
    start,
    async remove() {
      await daemon.kill();
      removeRunFolder(folder);
    },
  };
}

function answersOn(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
