/** `docs/errors.md`: every code, what it means, what to do about it, and the test that provokes it over the wire. Pure. */
import { catalog, type ErrorCode } from '#runtime/errors.ts';
import { remedies } from '#runtime/remedies.ts';
import { codes } from './codes.ts';

/** Codes that nobody can provoke over HTTP, each with the reason. */
export const notOverHttp: Partial<Record<ErrorCode, string>> = {
  not_a_grant: 'the operator’s command alone: no call ends a plan that was given',
  paid_subscription_active: 'the operator’s command alone: no call gives a plan',
};

export function errorsPage(): string {
  const rows = codes.map(({ name, status, retryable, shownBy }) => {
    const code = name as ErrorCode;
    const again = retryable === 'depends' ? 'as it says' : retryable ? 'yes' : 'no';
    const own = notOverHttp[code];
    const test = shownBy ? `[${titleOf(shownBy)}](../${shownBy.file})` : '';
    const provoked = [own, test].filter(Boolean).join(': ');
    return `| \`${code}\` | ${status} | ${again} | ${catalog[code].when} | ${remedies[code]} | ${provoked} |`;
  });
  return `# Errors

Made from \`errors.ts\`, \`remedies.ts\` and the coverage list by \`npx vitest run --project architecture -u\`; a test holds it fresh.

Every error is \`{ "error": { code, message, retryable, next_action?, request_id?, detail? } }\`. \`message\` is for the owner, \`next_action\` names the next call in this very case and goes before what stands here.
The last column is the test that provokes the code over HTTP; where it cannot be, why not.

| Code | Status | Retry | When | What to do | Provoked by |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** A name with holes for values reads better without them. */
const titleOf = ({ test }: { test: string }) => test.replaceAll(/%\w/g, '…').replaceAll('|', '\\|');
