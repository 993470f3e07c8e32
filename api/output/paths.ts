/**
 * Which paths a manifest may contain. The shared rules for paths come first. Uploads come from folders on people's computers, so hidden
 * files, programs, and names that people or other systems misread are refused too. Pure.
 */

import { outputFault, printable } from '#providers/paths.ts';
import { type AppError, errors } from '#runtime/errors.ts';

// Characters that look like a slash but are not normalised to one by NFKC.
const likeSlash = /[\u2044\u2215\u29f5\u29f8\u29f9\u2571\u2572\u{1f67c}\u{1f67d}]/u;
// Joiners are part of words in many scripts and of emoji: not next to ASCII, nor next to another joiner.
const invisible =
  /(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?<=[\0-\x7f\u200c\u200d]|^)[\u200c\u200d]|[\u200c\u200d](?=[\0-\x7f\u200c\u200d]|$)/u;
const devices = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(\.|$)/i;
const programs =
  /\.(exe|dll|sys|scr|com|bat|cmd|ps1|vbs|vbe|wsf|hta|msi|msix|lnk|scf|reg|apk|ipa|deb|rpm|dmg|pkg|jar|swf|xap)$/i;

/** The error for a path that a manifest must not name; undefined if it may. */
export function servedPathError(path: string): AppError | undefined {
  const fault = storedFault(path);
  if (fault) return errors.invalid_path(`${printable(path) || 'A path'} ${fault}.`, { nextAction: rename });
  const hidden = path.split('/').find((name) => name.startsWith('.') && name !== '.well-known');
  if (hidden === undefined) return undefined;
  return errors.invalid_manifest(`${printable(path)} is a hidden file. Hidden files are not served.`, {
    nextAction: 'Remove the file from the manifest.',
  });
}

const rename = 'Rename the file, or remove it from the manifest.';

function storedFault(path: string): string | undefined {
  const plain = outputFault(path);
  if (plain) return plain.what;
  if (invisible.test(path)) return 'has an invisible character in its name';
  if (/%[0-9a-f]{2}/i.test(path)) return 'has a percent-encoded character in its name; send the decoded name';
  const folded = path.normalize('NFKC');
  if (likeSlash.test(path) || folded.split('/').length !== path.split('/').length || folded.includes('\\')) {
    return 'has a character in its name that looks like a slash';
  }
  if (/^[a-z]:|:\$/i.test(folded)) return 'has a name that some systems treat as a special folder';
  if (programs.test(folded)) return 'is an executable file, which sites cannot contain';
  for (const [index, name] of folded.split('/').entries()) {
    if (/^\.+$/.test(name)) return 'has a name that consists only of dots';
    if (/^\p{Z}|[\p{Z}.]$/u.test(name)) return 'has a name that begins or ends with a space, or ends with a dot';
    if (devices.test(name)) return 'has a name that some systems reserve for a device';
    if (name.startsWith('.') && !path.split('/')[index]?.startsWith('.'))
      return 'has a character in its name that looks like a dot';
    // `~partytown` of Astro and Next.js is a plain name.
    if (/^~(?![a-z])|^.{1,6}~\d/i.test(name))
      return 'has a name that some systems treat as the 8.3 short name of another file';
  }
  return undefined;
}
