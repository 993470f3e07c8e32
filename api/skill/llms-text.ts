/** `/llms.txt` (llmstxt.org): the first thing an agent reads that knows nothing but the address. Pure. */
import { type SkillFile, type SkillTree, titleOf } from '../../skill/tree.ts';

/** `connects`: whether owners can let programs in by OAuth; else there are tokens alone. */
export function llmsText(baseUrl: string, { version, files }: SkillTree, { connects }: { connects: boolean }): string {
  const link = (file: SkillFile) => `- [${file.path}](${baseUrl}/skill/${file.path}): ${titleOf(file)}`;
  const pages = [...files.values()].filter(({ path }) => path.endsWith('.md') && path !== 'SKILL.md');
  return `# Frontage

> Makes and runs websites for an AI agent and its owner: git-backed sites, built in a sandbox, published and restored in an instant.

Read [SKILL.md](${baseUrl}/skill/SKILL.md) first: it teaches the work and how to get a token. No token is needed to read any of this. Version ${version}.

With a terminal and Node 20 or newer, the client does every call: save [frontage.mjs](${baseUrl}/skill/bin/frontage.mjs) and run "node frontage.mjs --help".

## The skill

${pages.map(link).join('\n')}

## The API

- [OpenAPI description](${baseUrl}/openapi.json): every call with its schemas and errors
- Tools at ${baseUrl}/mcp: the same calls by the Model Context Protocol (streamable HTTP), ${connects ? 'by OAuth or with a token' : 'with a token'}
- [The same for reading](${baseUrl}/docs/)
- [Errors](${baseUrl}/errors): every code with its status, and whether to try again
`;
}
