/** `docs/errors.md`: every code, what it means, what to do about it, and the test that provokes it over the wire. Pure. */
import { catalog, type ErrorCode } from '../../errors.ts';
import { remedies } from '../../remedies.ts';
import { codes } from './codes.ts';

/** Codes that no test can provoke, each with the reason. */
export const unprovoked: Partial<Record<ErrorCode, string>> = {};

export function errorsPage(): string {
  const rows = codes.map(({ name, status, retryable, shownBy }) => {
    const code = name as ErrorCode;
    const again = retryable === 'depends' ? 'as it says' : retryable ? 'yes' : 'no';
    const provoked = shownBy ? `[${titleOf(shownBy)}](../${shownBy.file})` : unprovoked[code];
    return `| \`${code}\` | ${status} | ${again} | ${catalog[code].when} | ${remedies[code]} | ${provoked} |`;
  });
  return `# Errors

Made from \`errors.ts\`, \`remedies.ts\` and the coverage list by \`npx vitest run --project architecture -u\`; a test holds it fresh.

Every error is \`{ "error": { code, message, retryable, next_action?, request_id?, detail? } }\`. \`message\` is for the owner, \`next_action\` names the next call in this very case and goes before what stands here.
The last column is the test that provokes the code over HTTP.

| Code | Status | Retry | When | What to do | Provoked by |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** A name with holes for values reads better without them. */
const titleOf = ({ test }: { test: string }) => test.replaceAll(/%\w/g, '…').replaceAll('|', '\\|');
