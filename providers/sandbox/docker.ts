/** Builds in containers, through the Docker API: one container for each build, removed afterwards. */
import { randomBytes } from 'node:crypto';
import { type Duplex, PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { containerSandbox } from './container-sandbox.ts';
import { demultiplex } from './demultiplex.ts';
import { makeDockerImage } from './image/docker-image.ts';
import { type Progress, runnerCommand, siteFolder } from './image/image.ts';
import type { Container } from './run.ts';
import type { Sandbox } from './sandbox.ts';
import { type ContainerLimits, type WarmOptions, warmPurpose } from './warm-pool.ts';

/**
 * Containers are named `frontage.<owner>.<deployment>.<random>`; a warm one has `warm` in place of the deployment. The
 * deployment is not a label because a warm container is assigned later: names can change, labels cannot.
 */
const ownerLabel = 'frontage.owner';
const inodesMax = 400_000;
const lastAnswerMs = 2_000;
const removalMs = 20_000;
const shares = { waiting: 128, building: 1024 };

export type DockerSandboxOptions = {
  docker: Docker;
  dataDir: string;
  /** Stable id of this installation. Two installations on one engine never touch each other's containers. */
  owner: string;
  onProgress: Progress;
  /** Containers to start in advance; none by default. */
  warm?: WarmOptions | undefined;
};

type DockerContainer = Container & { container: Docker.Container };

/** Builds the image if the engine lacks it, and returns the sandbox. */
export async function openDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const { docker, dataDir, owner, onProgress } = options;
  const image = await makeDockerImage(docker, dataDir, onProgress);
  const newName = (what: string) => `frontage.${owner}.${what}.${randomBytes(6).toString('hex')}`;
  const open = (purpose: string, limits: ContainerLimits) =>
    startContainer(docker, {
      name: newName(purpose),
      ...describeContainer(image.tag, owner, limits, purpose === warmPurpose),
    });

  return containerSandbox({
    kind: 'docker',
    image: image.id,
    warm: options.warm,
    start: open,
    async startWarm(limits) {
      const { container, ...started } = await open(warmPurpose, limits);
      return {
        ...started,
        restorePriority: () => container.update({ CpuShares: shares.building }),
        claim: (deploymentId) => container.rename({ name: newName(deploymentId) }),
      };
    },
    async list() {
      const found = await docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${owner}`] } });
      return found.map(({ Id, Names, State }) => ({
        purpose: Names[0]?.split('.')[2] ?? '',
        isRunning: async () => State === 'running',
        remove: () => removeContainer(docker.getContainer(Id)),
      }));
    },
    close: async () => {},
  });
}

/** Attaches before the start, so that no byte is missed. Without auto-remove, no exit status is missed either. */
async function startContainer(docker: Docker, options: Docker.ContainerCreateOptions): Promise<DockerContainer> {
  const container = await docker.createContainer(options);
  try {
    const wire = (await container.attach({
      stream: true,
      stdin: true,
      stdout: true,
      stderr: true,
      hijack: true,
    })) as Duplex;
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    demultiplex(wire, stdout, stderr);
    await container.start();
    return { container, stdin: wire, stdout, stderr, exited: readExit(container, wire), kill: killer(container, wire) };
  } catch (error) {
    await removeContainer(container);
    throw error;
  }
}

function killer(container: Docker.Container, wire: Duplex) {
  let killed: Promise<void> | undefined;
  return () => {
    killed ??= removeContainer(container).finally(() => wire.destroy());
    return killed;
  };
}

/** A container that is removed meanwhile has no state: the code comes from `wait`, or is null. */
async function readExit(container: Docker.Container, wire: Duplex) {
  const code = await Promise.race([
    container.wait({ condition: 'not-running' }).then(
      ({ StatusCode }: { StatusCode: number }) => StatusCode,
      () => null,
    ),
    // dockerode never settles `wait` if the engine dies meanwhile; the engine's stream closes.
    new Promise<null>((resolve) => wire.once('close', () => setTimeout(resolve, lastAnswerMs, null))),
  ]);
  const state = await Promise.race([
    container.inspect().then(
      ({ State }) => State,
      () => undefined,
    ),
    delay(lastAnswerMs, undefined, { ref: false }),
  ]);
  return { code, outOfMemory: state?.OOMKilled === true };
}

/**
 * Removing also kills. A container that is gone (404) or being removed (409) counts as removed. An engine under load
 * may lose track of a container and never respond: this returns after `removalMs`, and `removeOrphanBuilds` retries.
 */
async function removeContainer(container: Docker.Container): Promise<void> {
  const removed = container.remove({ force: true, v: true }).catch((error: { statusCode?: number }) => {
    if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
  });
  await Promise.race([removed, delay(removalMs, undefined, { ref: false })]);
}

function describeContainer(
  image: string,
  owner: string,
  limits: ContainerLimits,
  isAhead: boolean,
): Docker.ContainerCreateOptions {
  return {
    Image: image,
    Labels: { [ownerLabel]: owner },
    Cmd: [...runnerCommand, ...(isAhead ? ['rehearse'] : [])],
    User: '10001:10001',
    WorkingDir: siteFolder,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    // The same loopback-only namespace as network "none", but the engine starts it 0.1 s sooner.
    NetworkDisabled: true,
    // Warming up uses only CPU time that nothing else needs.
    HostConfig: { ...confine(limits), CpuShares: isAhead ? shares.waiting : shares.building },
  };
}

function confine(limits: ContainerLimits): Docker.HostConfig {
  const mount = `rw,nosuid,nodev,noexec,nr_inodes=${inodesMax},uid=10001,gid=10001,mode=0700`;
  return {
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: limits.pidsMax,
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    IpcMode: 'none',
    LogConfig: { Type: 'none', Config: {} },
    // Both mounts count towards the container's memory; their sizes only limit each mount.
    Tmpfs: {
      [siteFolder]: `${mount},size=${limits.memoryBytes}`,
      '/tmp': `${mount},size=${Math.round(limits.memoryBytes / 2)}`,
    },
  };
}
