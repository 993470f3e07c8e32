/** The types of settings: how the text of a variable becomes a value. */
import { z } from 'zod';

export const mebibyte = 1024 * 1024;
export const onOff = z.enum(['on', 'off']);
export const port = z.coerce.number().int().min(0).max(65535);
/** A port, or nothing where the variable is empty or absent. */
export const optionalPort = z.union([z.literal('').transform(() => undefined), port]).optional();
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);
export const hostname = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/);
export const socketAddress = z
  .string()
  .regex(/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]):\d{1,5}$/, 'must have the form address:port');
export const url = z.url().transform((text) => new URL(text));

/** `name=value,…` in the format of OpenTelemetry. Messages never contain the value, which may contain keys. */
export const pairs = z
  .string()
  .default('')
  .transform((text, check) => {
    const all = text.split(',').filter((part) => part.trim() !== '');
    try {
      return Object.fromEntries(all.map((part) => readPair(part)));
    } catch {
      check.addIssue({ code: 'custom', message: 'must have the form name=value,name=value', input: undefined });
      return z.NEVER;
    }
  });

function readPair(part: string): [string, string] {
  const at = part.indexOf('=');
  const name = part.slice(0, at).trim();
  if (at < 0 || !/^[\w.-]+$/.test(name)) throw new Error('not name=value');
  return [name, decodeURIComponent(part.slice(at + 1).trim())];
}

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const keysFormat =
  'must be a list such as v1:<secret>,v2:<secret>, with unique versions and unique secrets of at least 32 characters';

/** Encryption keys by version. Messages never contain the value. */
export const encryptionKeys = list
  .transform((parts) =>
    parts.map((part) => ({ version: part.split(':', 1)[0] ?? '', secret: part.slice(part.indexOf(':') + 1) })),
  )
  .refine(
    (keys) => keys.every(({ version, secret }) => /^[a-z0-9]{1,16}$/.test(version) && secret.length >= 32),
    keysFormat,
  )
  .refine(
    (keys) => new Set(keys.flatMap(({ version, secret }) => [version, secret])).size === 2 * keys.length,
    keysFormat,
  );
