/** A container engine of the test's own, which may be killed; the shared one may not. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { findEngine } from '#providers/sandbox/factory.ts';
import { makeDockerImage } from '#providers/sandbox/image/docker-image.ts';
import { type Daemon, startDaemon } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';

const path = `${process.env.PATH}:/usr/sbin:/sbin`;

export type OwnEngine = {
  /** As `DOCKER_HOST` takes it. */
  host: string;
  docker: Docker;
  kill(): Promise<void>;
  /** Starts it again, and answers when it does. */
  restart(): Promise<void>;
  /** Ends it and removes all that it held. */
  stop(): Promise<void>;
};

/** The same, with the sandbox's image. */
export async function startOwnEngine(runFolder: string, imageDir: string): Promise<OwnEngine> {
  const engine = await startBareEngine(runFolder);
  await takeImage(engine.docker, imageDir);
  return engine;
}

/** Starts an engine without a network, which has its folder in `runFolder` and no image. */
export async function startBareEngine(runFolder: string): Promise<OwnEngine> {
  const folder = join(runFolder, 'engine');
  mkdirSync(folder, { recursive: true });
  const records = openRunRecords(join(folder, 'run'));
  const socket = join(folder, 'docker.sock');
  const host = `unix://${socket}`;
  const logFile = join(folder, 'dockerd.log');
  let daemon: Daemon;

  async function start(): Promise<Docker | undefined> {
    rmSync(socket, { force: true });
    // Where nobody reaps what was killed, dockerd would take it for running, and wait for it.
    for (const name of ['dockerd.pid', 'exec/containerd/containerd.pid']) rmSync(join(folder, name), { force: true });
    daemon = await startDaemon({
      command: 'dockerd',
      args: [
        ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '-H', host],
        ...[
          '--pidfile',
          join(folder, 'dockerd.pid'),
          '--bridge=none',
          '--iptables=false',
          '--ip6tables=false',
          '--ip-forward=false',
        ],
      ],
      env: { ...process.env, PATH: path },
      logFile,
      stopSignal: 'SIGTERM',
      stopGraceMs: 30_000,
      onSpawn: (id) => records.add({ name: 'dockerd', stopSignal: 'SIGTERM', ...id }),
    });
    for (;;) {
      const docker = await findEngine(host);
      if (docker) return docker;
      if (!daemon.running()) return undefined;
      await delay(50);
    }
  }

  /** As a machine's service manager does: what a killed engine left may let its first starts fail. */
  async function startPatiently(): Promise<Docker> {
    for (let tries = 0; tries < 30; tries += 1) {
      const docker = await start();
      if (docker) return docker;
      await delay(500);
    }
    throw new Error(`dockerd does not start; its log ends: ${readFileSync(logFile, 'utf8').slice(-1000)}`);
  }

  const docker = await startPatiently();
  return {
    host,
    docker,
    kill: () => daemon.kill(),
    restart: async () => void (await startPatiently()),
    async stop() {
      await Promise.all((await docker.listContainers({ all: true })).map(({ Id }) => remove(docker, Id)));
      await daemon.stop();
      unmountBelow(folder);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Takes the image from the engine that the tests share, which is quicker than to make it. */
async function takeImage(docker: Docker, imageDir: string): Promise<void> {
  const shared = await findEngine(process.env.DOCKER_HOST ?? '');
  if (shared) {
    const { tag } = await makeDockerImage(shared, imageDir, () => {});
    const loaded = await docker.loadImage(await shared.getImage(tag).get());
    await new Promise((resolve, reject) =>
      docker.modem.followProgress(loaded, (error) => (error ? reject(error) : resolve(undefined))),
    );
  }
  await makeDockerImage(docker, imageDir, () => {});
}

async function remove(docker: Docker, id: string): Promise<void> {
  await docker.getContainer(id).remove({ force: true });
}

/** An engine that was killed leaves what it had mounted. */
function unmountBelow(folder: string): void {
  const mounted = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const below = mounted.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.reverse()) execFileSync('umount', ['-l', path]);
}
