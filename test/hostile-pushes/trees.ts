/** Trees that are small in a pack and large when they are listed. */
import { folderMode, type PackBuilder } from './pack-builder.ts';
import { accepted, copies, type HostileRepository, nest, range } from './repository.ts';

const folder = (name: string, oid: string) => ({ name, oid, mode: folderMode });
const mebibyte = 1_048_576;
const tooMany = /would contain more than 10000 files/;

/** The tree becomes the tip of main. */
const tip = (what: string, says: RegExp, build: (pack: PackBuilder) => string, brief?: true): HostileRepository => ({
  what,
  says,
  build: (pack, head) => pack.commit(build(pack), [head]),
  ...(brief ? { brief } : {}),
});

/** Every folder contains the next one; the root contains all of them. */
function ladder(pack: PackBuilder, height: number): string {
  const rungs: string[] = [];
  let below = pack.tree(copies(pack.blob('x'), 1));
  for (let level = 0; level < height; level++) {
    rungs.push(below);
    below = pack.tree([folder('d', below), { name: 'x', oid: pack.blob(`x${level}`) }]);
  }
  return pack.tree(rungs.map((oid, at) => folder(`r${at}`, oid)));
}

export const hostileTrees: HostileRepository[] = [
  tip(
    'nine levels of 20 folders without a file',
    /is an empty folder/,
    (pack) => nest(pack, pack.tree([]), 9, 20),
    true,
  ),
  tip('one empty folder', /d000000 is an empty folder/, (pack) =>
    pack.tree([...copies(pack.tree([]), 1, folderMode), ...copies(pack.blob('x'), 0)]),
  ),
  tip(
    'five levels of 20 folders with files',
    tooMany,
    (pack) => nest(pack, pack.tree(copies(pack.blob('x'), 20)), 5, 20),
    true,
  ),
  tip('60 levels of two folders', tooMany, (pack) => nest(pack, pack.tree(copies(pack.blob('x'), 2)), 60, 2)),
  tip('two levels of 3,000 folders', tooMany, (pack) => nest(pack, pack.tree(copies(pack.blob('x'), 1)), 2, 3000)),
  tip(
    'a file inside 5,000 folders',
    /longer than 1024 bytes/,
    (pack) => nest(pack, pack.tree(copies(pack.blob('x'), 1)), 5000, 1),
    true,
  ),
  tip('600 folders, each in the one before it and in the root', /longer than 1024 bytes/, (pack) => ladder(pack, 600)),
  tip('200,000 folders in a folder', /more than (40000 folders|10000 files)/, (pack) => {
    const leaf = pack.tree(copies(pack.blob('x'), 1));
    return pack.tree(copies(leaf, 200_000, folderMode));
  }),
  tip('60,000 different folders with a file each', tooMany, (pack) =>
    nest(
      pack,
      pack.tree(range(60_000).map((at) => folder(`f${at}`, pack.tree([{ name: `${at}`, oid: pack.blob('x') }])))),
      1,
      1,
    ),
  ),
  tip('200,000 files in one folder', tooMany, (pack) => pack.tree(copies(pack.blob('x'), 200_000)), true),
  tip('50,000 submodules', tooMany, (pack) => pack.tree(copies('c0ffee'.repeat(7).slice(0, 40), 50_000, '160000'))),
  tip('10,000 symbolic links', /is a symbolic link/, (pack) =>
    pack.tree(copies(pack.blob('/etc/passwd'), 10_000, '120000')),
  ),
  tip(
    'a 9 MB file at 5,000 paths',
    /more than 512 MiB/,
    (pack) => pack.tree(copies(pack.blob(Buffer.alloc(9 * mebibyte)), 5000)),
    true,
  ),
  tip('a name of 8 MB', /longer than 1024 bytes/, (pack) =>
    pack.tree([{ name: 'n'.repeat(8 * mebibyte), oid: pack.blob('x') }]),
  ),
  tip('9,000 names of 2 KB', /longer than 1024 bytes|more than 10000 files/, (pack) =>
    pack.tree(range(9000).map((at) => ({ name: `${at}${'n'.repeat(2000)}`, oid: pack.blob('x') }))),
  ),
  tip('9,000 files inside 100 folders whose names take long to compare', accepted, (pack) => {
    let tree = pack.tree(copies(pack.blob('x'), 9000));
    for (let level = 0; level < 100; level++) tree = pack.tree([folder(`\u0301e\u200c${level}.`, tree)]);
    return tree;
  }),
  tip('9,000 files that the platform manages', /managed by the platform/, (pack) => {
    const managed = pack.tree([{ name: 'yarn.lock', oid: pack.blob('x') }]);
    return pack.tree(copies(managed, 9000, folderMode));
  }),
  tip('a name that harms clones in each of 9,000 folders', /treat as the \.git folder|longer|harm/, (pack) =>
    pack.tree(copies(pack.tree([{ name: '.GIT', oid: pack.blob('x') }]), 9000, folderMode)),
  ),
];
