/** `docs/errors.md`, from the catalog of error codes. Pure. */
import { catalog, remedyInMarkdown } from '#runtime/errors.ts';

export function errorsPage(): string {
  const rows = Object.entries(catalog).map(([code, { status, retryable, when }]) => {
    const retry = retryable === 'depends' ? 'see the response' : retryable ? 'yes' : 'no';
    return `| \`${code}\` | ${status} | ${retry} | ${when} | ${remedyInMarkdown(code)} |`;
  });
  return `# Errors

Generated from \`runtime/errors/\` by \`npm run docs\`. Do not edit this page.

Every error is \`{ "error": { code, message, retryable, next_action?, request_id?, detail? } }\`. Relay \`message\` to the owner. \`next_action\` names the next call for this case and takes precedence over this table.

| Code | Status | Retry | When | What to do |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
