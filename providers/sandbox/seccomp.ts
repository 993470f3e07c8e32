/**
 * The system call filter of builds: a classic BPF program, as seccomp(2) and bubblewrap's `--seccomp` take it.
 *
 * It refuses what a container engine's default profile refuses, and more: programs that build pages do not debug other processes, use
 * rings of io_uring or open other sockets than those of Unix and the internet. Calls newer than this list do not exist for a build.
 */

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, k: number];
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

const permissionDenied = 1;
const noSuchCall = 38;
const noSuchFamily = 97;
/** Offsets in `struct seccomp_data`. Only the low half of an argument counts for the calls below: the kernel truncates it too. */
const at = { call: 0, architecture: 4, argument: (index: number) => 16 + 8 * index };
const isEqual = 0x15;
const isAtLeast = 0x35;
const hasBits = 0x45;

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const give = (value: number): Instruction => [0x06, 0, 0, value];
const allow = give(0x7fff_0000);
const kill = give(0x8000_0000);
const fail = (errno: number) => give(0x0005_0000 | errno);

const architectures = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
export type FilterArchitecture = keyof typeof architectures;
/** The first number after those of Linux 6.17, on both architectures. */
const firstUnknown = 470;
/** Calls of the x32 ABI, which would be a way round all numbers. */
const x32 = 0x4000_0000;

/** Since 5.1, all architectures give a call the same number. */
const both = (number: number): Numbers => [number, number];

const refused: Readonly<Record<string, Numbers>> = {
  _sysctl: [156, undefined],
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  create_module: [174, undefined],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: both(431),
  fsmount: both(432),
  fsopen: both(430),
  fspick: both(433),
  get_kernel_syms: [177, undefined],
  init_module: [175, 105],
  io_uring_enter: both(426),
  io_uring_register: both(427),
  io_uring_setup: both(425),
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  modify_ldt: [154, undefined],
  mount: [165, 40],
  mount_setattr: both(442),
  move_mount: both(429),
  move_pages: [279, 239],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: both(428),
  open_tree_attr: both(467),
  perf_event_open: [298, 241],
  pidfd_getfd: both(438),
  pivot_root: [155, 41],
  process_madvise: both(440),
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  query_module: [178, undefined],
  quotactl: [179, 60],
  quotactl_fd: both(443),
  reboot: [169, 142],
  request_key: [249, 218],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: both(450),
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysfs: [139, undefined],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, undefined],
  userfaultfd: [323, 282],
  ustat: [136, undefined],
  vhangup: [153, 58],
};

/** All namespaces: user, mount, pid, net, ipc, uts and cgroup. The flags of clone3 are in memory, where a filter cannot see them. */
const newNamespace = 0x7e02_0000;
const terminalInput = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];
const socketFamilies = [1 /* unix */, 2 /* inet */, 10 /* inet6 */];
const netlink = 16;
const ordinaryPersonalities = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

const clone: Numbers = [56, 220];

/** Calls that are refused for some of their arguments. */
const examined: readonly (readonly [Numbers, readonly Instruction[]])[] = [
  [clone, [load(at.argument(0)), [hasBits, 0, 1, newNamespace], fail(permissionDenied), allow]],
  [[435, 435], [fail(noSuchCall)]],
  [
    [16, 29],
    [load(at.argument(1)), ...oneOf(terminalInput, fail(permissionDenied)), allow],
  ],
  [
    [135, 92],
    [load(at.argument(0)), ...oneOf(ordinaryPersonalities, allow), fail(permissionDenied)],
  ],
  // Names of network interfaces are read with netlink's protocol 0, which is routing.
  [
    [41, 198],
    [
      load(at.argument(0)),
      ...oneOf(socketFamilies, allow),
      ...[[isEqual, 0, 3, netlink] as const, load(at.argument(2)), [isEqual, 0, 1, 0] as const, allow],
      fail(noSuchFamily),
    ],
  ],
  [
    [53, 199],
    [load(at.argument(0)), ...oneOf(socketFamilies, allow), fail(noSuchFamily)],
  ],
];

/** Calls with which a program encloses its own children: it makes namespaces, and changes its root. */
const enclosing = new Set<Numbers | undefined>([refused.unshare, refused.chroot, clone]);

/**
 * The filter for an architecture: instructions of 8 bytes. With `encloses`, a program may make namespaces and change its
 * root, as a browser does for its renderers.
 */
export function seccompFilter(architecture: FilterArchitecture, { encloses = false } = {}): Buffer {
  const column = architecture === 'x64' ? 0 : 1;
  const isKept = (numbers: Numbers) => !(encloses && enclosing.has(numbers));
  const program: Instruction[] = [
    load(at.architecture),
    ...only(architectures[architecture]),
    load(at.call),
    ...(architecture === 'x64' ? [[isAtLeast, 0, 1, x32] as const, kill] : []),
    ...[[isAtLeast, 0, 1, firstUnknown] as const, fail(noSuchCall)],
    ...Object.values(refused)
      .filter(isKept)
      .flatMap((numbers) => on(numbers[column], [fail(permissionDenied)])),
    ...examined.filter(([numbers]) => isKept(numbers)).flatMap(([numbers, body]) => on(numbers[column], body)),
    allow,
  ];
  return Buffer.concat(program.map(encode));
}

/** The filter for this machine, or undefined where there is none for its processor. */
export function ownFilter(
  architecture: string = process.arch,
  options: { encloses?: boolean } = {},
): Buffer | undefined {
  return architecture in architectures ? seccompFilter(architecture as FilterArchitecture, options) : undefined;
}

function only(value: number): Instruction[] {
  return [[isEqual, 1, 0, value], kill];
}

/** The body ends with a verdict for each path through it. */
function on(number: number | undefined, body: readonly Instruction[]): Instruction[] {
  return number === undefined ? [] : [[isEqual, 0, body.length, number], ...body];
}

function oneOf(values: readonly number[], verdict: Instruction): Instruction[] {
  return values.flatMap((value): Instruction[] => [[isEqual, 0, 1, value], verdict]);
}

function encode([code, ifTrue, ifFalse, k]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(k, 4);
  return bytes;
}
