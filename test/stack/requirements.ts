/**
 * Programs that some machines lack. A test or `describe` that needs one has its name among its `tags`; `@module-tag` in a file's first
 * comment tags the whole file. Where the program is missing, vitest skips the tests and their hooks, and `npm test` says how to get it.
 */
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findChromium } from '#providers/browser/wall.ts';
import { toolsEnv } from '#providers/sandbox/process-sandbox.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { executableAt } from '#tools/local/services/temporal-cli.mjs';

const { FRONTAGE_TEST_PYTHON: python, FRONTAGE_INSPECTOR: inspector, DOCKER_HOST: dockerHost = '' } = process.env;
const { FRONTAGE_OPENAPI_TOOLS: openapiTools, FRONTAGE_PROJECTS: projects } = process.env;
const folders = ['/usr/sbin', join(homedir(), 'go/bin'), ...(python ? [dirname(python)] : [])];
const find = (...names: string[]) => names.map((name) => executableAt(name, folders)).find(Boolean);
const findNode = () => ['/usr/bin/node', '/usr/local/bin/node'].find((path) => succeeds(path, '--version'));
const succeeds = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const findDockerd = () => (process.getuid?.() === 0 ? find('dockerd') : undefined);

/** How to get each (`.ci/run` installs most of them on Debian), and what finds its path. */
const requirements = {
  bash: ['apt install bash', () => find('bash')],
  bubblewrap: ['apt install bubblewrap', findBubblewrap],
  certutil: ['apt install libnss3-tools', () => find('certutil')],
  chromium: ['apt install chromium-headless-shell, or chromium', () => findChromium()],
  'compose-spec': [
    'go install github.com/compose-spec/compose-go/v2/cmd@v2.16.2, mv cmd compose-spec',
    () => find('compose-spec'),
  ],
  'control-groups': ['run the tests as root, where control groups can be made', findControlGroupsHere],
  docker: ['apt install docker.io, start dockerd', findDocker],
  dockerd: ['apt install docker.io, run the tests as root', findDockerd],
  dulwich: ['pip install dulwich==1.2.21, FRONTAGE_TEST_PYTHON=<its Python>', () => findModule('dulwich')],
  h2spec: ['go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible', () => find('h2spec')],
  haproxy: ['apt install haproxy', () => find('haproxy')],
  machines: ['apt install npm iproute2 util-linux, run the tests as root', findMachines],
  'mcp-inspector': ['npm install @modelcontextprotocol/inspector, FRONTAGE_INSPECTOR=<its program>', () => inspector],
  namespaces: ['permit unprivileged user namespaces; without any sandbox, stacks build unprotected', findNamespaces],
  node: ['apt install nodejs, beside the Node that runs the tests', findNode],
  'mcp-python': ['pip install mcp==2.3.0, FRONTAGE_TEST_PYTHON=<its Python>', () => findModule('mcp.client.auth')],
  npm: ['apt install npm', () => find('npm')],
  'openapi-python-client': [
    'pip install openapi-python-client==0.29.1, FRONTAGE_TEST_PYTHON=<its Python>',
    () => find('openapi-python-client'),
  ],
  'openapi-tools': [
    'npm install @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 in a folder, FRONTAGE_OPENAPI_TOOLS=<it>',
    () => (openapiTools && executableAt('redocly', [`${openapiTools}/node_modules/.bin`]) ? openapiTools : undefined),
  ],
  pebble: ['apt install pebble', async () => pathIn((await import('#tools/local/services/pebble.ts')).findPebble())],
  powerdns: [
    'apt install pdns-server pdns-backend-sqlite3',
    async () => pathIn((await import('#tools/local/services/powerdns.ts')).findPowerDns()),
  ],
  projects: ['npm run campaigns -- --projects <folder with the checkouts of docs/projects.md>', () => projects],
  schemathesis: ['pip install schemathesis==4.32.5, FRONTAGE_TEST_PYTHON=<its Python>', () => find('schemathesis')],
  script: ['apt install bsdutils', () => find('script')],
  sslscan: ['apt install sslscan', () => find('sslscan')],
  'stripe-mock': ['go install github.com/stripe/stripe-mock@v0.203.0', () => findMock(process.env)],
  'system-call-filter': ['apt install perl, or util-linux 2.41 or later', findFilterLoader],
  // Whether it can be downloaded is known only when it is started: test/stack/time-skipping.ts.
  'temporal-test-server': ['access to temporal.download, or apt install default-jre-headless maven', () => 'unknown'],
  versitygw: ['go install github.com/versity/versitygw/cmd/versitygw@v1.8.0', () => find('versitygw')],
} as const satisfies Record<
  string,
  readonly [get: string, find: () => string | undefined | Promise<string | undefined>]
>;

export type Requirement = keyof typeof requirements;
declare module 'vitest' {
  interface TestTags {
    tags: Requirement;
  }
}

/** The program's path, or '' where it is missing: then its tests do not run. */
export const pathOf = async (name: Requirement): Promise<string> => (await requirements[name][1]()) ?? '';

/** A tag for each; that of a missing program skips its tests. */
export const requirementTags = async () =>
  await Promise.all(
    Object.entries(requirements).map(async ([name, [description]]) => {
      const isMissing = (await pathOf(name as Requirement)) === '';
      return { name: name as Requirement, description, ...(isMissing ? { skip: true } : {}) };
    }),
  );

function pathIn(found: { command: string } | { missing: string }): string | undefined {
  return 'command' in found ? found.command : undefined;
}

async function findDocker(): Promise<string | undefined> {
  const { findEngine } = await import('#providers/sandbox/factory.ts');
  return (await findEngine(dockerHost)) && 'running';
}

async function findControlGroupsHere(): Promise<string | undefined> {
  const { findControlGroups } = await import('#providers/sandbox/cgroups.ts');
  const groups = await findControlGroups(`test-requirements-${process.pid}`);
  await groups.close();
  return groups.limited ? '/sys/fs/cgroup' : undefined;
}

/** A program that gives a build in namespaces its filter. */
function findFilterLoader(): string | undefined {
  const env = toolsEnv;
  const { stdout } = spawnSync('setpriv', ['--help'], { encoding: 'utf8', env });
  if (stdout?.includes('--seccomp-filter')) return 'setpriv';
  return spawnSync('perl', ['-e', ''], { env }).status === 0 ? 'perl' : undefined;
}

function findBubblewrap(): string | undefined {
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=10001', '--regid=10001', '--clear-groups'] : [];
  const bwrap = ['bwrap', '--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/'];
  return succeeds('env', ...user, ...bwrap, 'true') ? find('bwrap') : undefined;
}

function findNamespaces(): string | undefined {
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=10001', '--regid=10001', '--clear-groups'] : [];
  const unshare = ['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork'];
  const probe = ['mount', '-t', 'tmpfs', 'tmpfs', '/tmp'];
  return succeeds('env', ...user, ...unshare, ...probe) ? find('unshare') : undefined;
}

/** What test/campaigns/machines/machine.ts makes machines with. */
function findMachines(): string | undefined {
  const programs = ['npm', 'ip', 'unshare', 'nsenter', 'setpriv', 'setsid'];
  return process.getuid?.() === 0 && programs.every((name) => find(name)) ? find('unshare') : undefined;
}

/** A Python that has the module. */
function findModule(name: string): string | undefined {
  const pythons = [python, '/usr/bin/python3', '/usr/local/bin/python3'];
  return pythons.find((path) => path && succeeds(path, '-c', `import ${name}`));
}
