/** Histories whose commits are cheap to send and expensive to compare. */
import { folderMode, type PackBuilder } from './pack-builder.ts';
import { accepted, copies, type HostileRepository, nest, range, stopped } from './repository.ts';

const good = (pack: PackBuilder) => pack.tree([{ name: 'a.txt', oid: pack.blob('a') }]);
const either = new RegExp(`${accepted.source}|${stopped.source}`);
const mebibyte = 1_048_576;

/** 5,000 files of one of two contents. */
const large = (pack: PackBuilder, text: string) => pack.tree(copies(pack.blob(text), 5000));

export const hostileHistories: HostileRepository[] = [
  {
    what: 'a tree of 20⁹ folders that a later commit removes',
    says: accepted,
    build: (pack, head) => {
      const bad = pack.commit(nest(pack, pack.tree(copies(pack.blob('x'), 20)), 9, 20), [head]);
      return pack.commit(good(pack), [bad]);
    },
    brief: true,
  },
  // Until 2.43, git accepts names of any length.
  ...[
    ['spaces', ' '],
    ['combining marks', '\u0315\u0300'],
  ].map(
    ([what, repeated = '']): HostileRepository => ({
      what: `a name of a million ${what} that a later commit removes`,
      says: either,
      build(pack, head) {
        const name = `a${repeated.repeat(1_000_000)}x`;
        const bad = pack.commit(pack.tree([{ name, oid: pack.blob('x') }]), [head]);
        return pack.commit(good(pack), [bad]);
      },
      brief: true,
    }),
  ),
  {
    what: '3,000 commits that alternate between two trees of 5,000 files',
    says: accepted,
    build(pack, head) {
      const trees = [large(pack, 'x'), large(pack, 'y')];
      let tip = head;
      for (const at of range(3000)) tip = pack.commit(trees[at % 2] ?? '', [tip]);
      return tip;
    },
    brief: true,
  },
  {
    what: '100 merges of two trees of 5,000 files, with 100 parents each',
    says: accepted,
    build(pack, head) {
      const [one, two] = [large(pack, 'x'), large(pack, 'y')];
      const sides = range(100).map((at) => pack.commit(at % 2 ? one : two, [head], `Side ${at}`));
      let tip = head;
      for (const at of range(100)) tip = pack.commit(at % 2 ? one : two, [tip, ...sides]);
      return tip;
    },
  },
  {
    what: 'a merge of 10,000 parents',
    says: either,
    build: (pack, head) => {
      const parents = range(10_000).map((at) => pack.commit(good(pack), [head], `Side ${at}`));
      return pack.commit(good(pack), [head, ...parents]);
    },
  },
  {
    what: '40,000 merges, each of the two commits before it',
    says: either,
    build(pack, head) {
      let [before, tip] = [head, pack.commit(good(pack), [head], 'First')];
      for (const at of range(40_000)) [before, tip] = [tip, pack.commit(good(pack), [tip, before], `${at}`)];
      return tip;
    },
  },
  {
    what: '60,000 commits without a change',
    says: either,
    build(pack, head) {
      const tree = good(pack);
      let tip = head;
      for (const at of range(60_000)) tip = pack.commit(tree, [tip], `${at}`);
      return tip;
    },
  },
  {
    what: '2,000 commits with a folder of 1,000 files that changes each time',
    says: either,
    build(pack, head) {
      const entries = copies(pack.blob('x'), 1000);
      let tip = head;
      for (const at of range(2000)) {
        entries[at % 1000] = { name: entries[at % 1000]?.name ?? '', oid: pack.blob(`${at}`) };
        tip = pack.commit(pack.tree(entries), [tip]);
      }
      return tip;
    },
  },
  {
    what: 'a commit message of 60 MB',
    says: /a commit of more than 1 MiB/,
    build: (pack, head) => pack.commit(good(pack), [head], 'm'.repeat(60 * mebibyte)),
  },
  {
    what: '50 commits with a first line of 9 MB',
    says: either,
    build(pack, head) {
      let tip = head;
      for (const at of range(50)) tip = pack.commit(good(pack), [tip], `${at}${'m'.repeat(9 * mebibyte)}`);
      return tip;
    },
  },
  {
    what: 'an author whose name is 9 MB long',
    says: /a commit of more than 1 MiB/,
    build: (pack, head) =>
      pack.commit(good(pack), [head], 'x', `${'n'.repeat(9 * mebibyte)} <bo@example.com> 1795219200 +0000`),
  },
  {
    what: 'a harmful name below 20⁹ folders of an earlier commit',
    says: /appears in the pushed history/,
    build: (pack, head) => {
      const inner = pack.tree([{ name: '.git', oid: pack.blob('x') }]);
      return pack.commit(good(pack), [pack.commit(nest(pack, inner, 9, 20), [head])]);
    },
  },
  {
    what: 'main and two branches, each with a tree of 20⁵ files',
    says: /more than 10000 files/,
    build: (pack, head) => {
      const tips = ['main', 'preview/1', 'preview/2'].map((branch) => {
        const tree = nest(pack, pack.tree(copies(pack.blob(branch), 20)), 4, 20);
        return [`refs/heads/${branch}`, pack.commit(tree, [head])];
      });
      return { tips: Object.fromEntries(tips) };
    },
  },
  {
    what: 'a tag of a tag, 5,000 times',
    says: /would not point to a commit|unpack (?!ok)|trying to write non-commit/,
    build(pack, head) {
      let [tip, type] = [head, 'commit'];
      for (const at of range(5000)) {
        const text = `object ${tip}\ntype ${type}\ntag t${at}\ntagger Bo <bo@example.com> 1795219200 +0000\n\nt\n`;
        [tip, type] = [pack.add('tag', Buffer.from(text)), 'tag'];
      }
      return { tips: { 'refs/heads/preview/1': tip } };
    },
  },
  {
    what: '10,000 new branches',
    says: /cannot be pushed/,
    build: (_pack, head) => ({ tips: Object.fromEntries(range(10_000).map((at) => [`refs/heads/x/${at}`, head])) }),
  },
  {
    what: 'a folder of 5,000 files, and each of 1,000 commits moves it',
    says: either,
    build(pack, head) {
      const files = large(pack, 'x');
      let tip = head;
      for (const at of range(1000))
        tip = pack.commit(pack.tree([{ name: `f${at}`, oid: files, mode: folderMode }]), [tip]);
      return tip;
    },
  },
];
