/** `/llms.txt` (llmstxt.org): the first page for an agent that knows only the address. Pure. */
import { type SkillFile, type SkillTree, titleOf } from '#skill/tree.ts';

/** `connects`: whether owners can approve clients with OAuth; otherwise only tokens work. */
export function llmsText(baseUrl: string, { version, files }: SkillTree, { connects }: { connects: boolean }): string {
  const link = (file: SkillFile) => `- [${file.path}](${baseUrl}/skill/${file.path}): ${titleOf(file)}`;
  const pages = [...files.values()].filter(({ path }) => path.endsWith('.md') && path !== 'SKILL.md');
  return `# Frontage

> Frontage lets an AI agent and its owner make and run websites: sites are stored in git, built in a sandbox, and published and restored instantly.

Read [SKILL.md](${baseUrl}/skill/SKILL.md) first: it explains the work and how to get a token. No token is needed to read these pages. Version ${version}.

In a terminal with Node 20 or later, the client can make every API call: download [frontage.mjs](${baseUrl}/skill/bin/frontage.mjs) and run "node frontage.mjs --help". "node frontage.mjs skill stages/ship.md" prints that page with its calls as commands.

## The skill

${pages.map(link).join('\n')}

## The API

- [OpenAPI description](${baseUrl}/openapi.json): every operation with its schemas and errors
- Tools at ${baseUrl}/mcp: the same operations over the Model Context Protocol (streamable HTTP), ${connects ? 'with OAuth or a token' : 'with a token'}
- [API reference](${baseUrl}/docs)
- [Errors](${baseUrl}/errors): every error code with its status, and whether the call can be retried
`;
}
