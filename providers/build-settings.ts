/** The file `frontage.toml` in the root of a source: what a site says about its builds and its pushes. Pure. */
import { isUtf8 } from 'node:buffer';
import { parse as parseToml, TomlError } from 'smol-toml';
import { z } from 'zod';
import { contentFolder, printable, sourceFault } from '#providers/paths.ts';

export const settingsFile = 'frontage.toml';
/** A larger file is refused without being read. */
export const settingsBytesMax = 16_384;

const variablesMax = 50;
const valueLengthMax = 2048;

export type BuildSettings = {
  /** The folder that is built, which ends in `/`; empty for all of the source. */
  root: string;
  /** Public environment variables of the build. */
  env: Record<string, string>;
  /** Whether a push to main is published. */
  publishOnPush: boolean;
  /** The preview slot in which a branch of this name is shown. */
  branches: ReadonlyMap<string, number>;
};

/** Those of a site without the file. */
export const defaultSettings: BuildSettings = { root: '', env: {}, publishOnPush: false, branches: new Map() };

/** The message completes a sentence that begins with the name of the file. */
export class UnusableSettings extends Error {}

const root = z.string('must be text: the path of a folder, for example "apps/web"').check((context) => {
  const fault = rootFault(context.value);
  if (fault) context.issues.push({ code: 'custom', message: fault, input: context.value });
});

const value = z
  .string('must be text in quotes')
  .max(valueLengthMax, `must have at most ${valueLengthMax} characters`)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be one line without control characters')
  .refine((text) => quoteFor(text) !== undefined, 'must not contain all of the quotes \', " and `');

const env = z.record(z.string(), value, 'must be a table of variables').check((context) => {
  const names = Object.keys(context.value);
  const refuse = (message: string) => context.issues.push({ code: 'custom', message, input: context.value });
  if (names.length > variablesMax) refuse(`must have at most ${variablesMax} variables`);
  const other = names.find((name) => !/^PUBLIC_[A-Z0-9_]{1,57}$/.test(name));
  if (other !== undefined)
    refuse(
      `has the variable ${printable(other)}: names begin with PUBLIC_ and have at most 64 capital letters, digits and _`,
    );
});

const branchesMax = 50;

const slot = z.int('must be the number of a preview slot, without quotes').min(1, 'must be at least 1').max(9999);

const branches = z.record(z.string(), slot, 'must be a table of branches').check((context) => {
  const names = Object.keys(context.value);
  const refuse = (message: string) => context.issues.push({ code: 'custom', message, input: context.value });
  if (names.length > branchesMax) refuse(`must have at most ${branchesMax} branches`);
  const unusable = names.find((name) => !isAlias(name));
  if (unusable !== undefined) refuse(`has the branch ${printable(unusable)}, which cannot be shown in a slot`);
  const folder = names.find((name) => names.some((other) => other.startsWith(`${name}/`)));
  if (folder !== undefined) refuse(`has the branch ${printable(folder)} and another one below it`);
  const slots = Object.values(context.value);
  const twice = slots.find((number, index) => slots.indexOf(number) !== index);
  if (twice !== undefined) refuse(`has two branches for slot ${twice}`);
});

/** Whether git takes the name (git-check-ref-format(1)), and no branch of the platform has it or is below it. */
function isAlias(name: string): boolean {
  return (
    /^[a-z0-9][\w.+-]*(\/[a-z0-9][\w.+-]*)*$/i.test(name) &&
    name.length <= 100 &&
    !/^(main|preview|head)(\/|$)|\.\.|\.lock(\/|$)|\.(\/|$)/i.test(name)
  );
}

const schema = z.strictObject({
  build: z
    .strictObject({ root: root.default('') }, { error: (issue) => unknownKeys(issue, 'root') ?? 'must be a table' })
    .default({ root: '' }),
  env: env.default({}),
  publish_on_push: z.boolean('must be true or false, without quotes').default(false),
  branches: branches.default({}),
});

/** Parses the file. Throws UnusableSettings, which names the line or the field. */
export function parseBuildSettings(content: Buffer): BuildSettings {
  if (content.length > settingsBytesMax) throw new UnusableSettings(`is larger than ${settingsBytesMax / 1024} KiB`);
  if (!isUtf8(content)) throw new UnusableSettings('is not UTF-8 text');
  const parsed = schema.safeParse(readToml(content.toString().replace(/^\uFEFF/, '')), {
    error: (issue) => unknownKeys(issue, 'publish_on_push, [build], [env] and [branches]'),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.map(String).map(printable).join('.');
    throw new UnusableSettings(field ? `is not valid: ${field} ${issue?.message}` : `${issue?.message}`);
  }
  const { build, env, publish_on_push: publishOnPush, branches } = parsed.data;
  const root = build.root === '' ? '' : `${build.root.replace(/\/$/, '')}/`;
  return { root, env, publishOnPush, branches: new Map(Object.entries(branches)) };
}

function readToml(text: string): unknown {
  try {
    const table = parseToml(text);
    const strange = strangeKey(table);
    if (strange !== undefined) throw new UnusableSettings(`has the key ${strange}, which is not allowed`);
    return table;
  } catch (error) {
    if (error instanceof UnusableSettings) throw error;
    if (!(error instanceof TomlError)) throw new UnusableSettings('cannot be read: it is nested too deeply');
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '');
    throw new UnusableSettings(`is not valid TOML: line ${error.line}: ${printable(reason ?? '')}`);
  }
}

/** A key that a careless program would read as a part of every object. */
function strangeKey(table: object): string | undefined {
  for (const [key, inner] of Object.entries(table)) {
    if (['__proto__', 'constructor', 'prototype'].includes(key)) return key;
    const found = typeof inner === 'object' && inner !== null ? strangeKey(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The message for keys that the file does not have; undefined for another issue. */
function unknownKeys({ code, keys }: { code?: string; keys?: readonly string[] }, known: string): string | undefined {
  if (code !== 'unrecognized_keys') return undefined;
  return `has an unknown setting, ${keys?.map(printable).join(', ')}: there is only ${known}`;
}

function rootFault(path: string): string | undefined {
  if (path === '') return undefined;
  if (path.startsWith('/')) return 'must be relative to the root of the repository';
  const folder = path.replace(/\/$/, '');
  const fault = sourceFault(folder);
  if (fault) return fault.what;
  return `${folder}/`.toLowerCase().startsWith(contentFolder) ? 'must not be in src/content' : undefined;
}

const keyBeginnings =
  /^(?:sk|rk|whsec|ghp|gho|ghs|glpat|npm|fro|shpat|dop_v1|SG|xox[abprs])[-_.][\w.-]{16,}$|^github_pat_\w{20,}$|^A[KS]IA[A-Z0-9]{16}$|^-----BEGIN/;

/** Whether a value has the form of a secret that a provider issues. Public values have other forms (`pk_…`, `G-…`). */
export function looksLikeKey(value: string): boolean {
  return keyBeginnings.test(value.trim());
}

/** A file with these variables that Vite reads as they are, with precedence over those of the source. */
export const variablesFile = '.env.production.local';

/** The text of that file. Vite replaces `$name` in every value, but not `\$`. */
export function renderVariables(env: BuildSettings['env']): string {
  return Object.entries(env)
    .map(([name, text]) => {
      const quote = quoteFor(text);
      return `${name}=${quote}${text.replaceAll('$', '\\$')}${quote}\n`;
    })
    .join('');
}

/** A quote that the value does not contain. In double quotes a backslash has a meaning. */
function quoteFor(text: string): string | undefined {
  return ["'", '`', '"'].find((quote) => !text.includes(quote) && !(quote === '"' && text.includes('\\')));
}
