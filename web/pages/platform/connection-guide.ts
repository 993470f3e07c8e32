/** How to connect an agent: for each kind of program, the steps and what to copy. */
import { readFileSync } from 'node:fs';
import { copyable } from '#web/copyable.ts';
import { type Html, html } from '#web/html.ts';

/** Pages with the guide add this style, and that of what is copied. */
export const guideStyle = readFileSync(new URL('./connection-guide.css', import.meta.url), 'utf8');

export type ConnectionGuide = {
  /** The platform's address, without a slash at its end. */
  baseUrl: string;
  /** Whether owners can sign in, so that programs can connect with OAuth. Otherwise only the operator issues tokens. */
  connects: boolean;
};

/** A panel for each kind of program; the first one is open. */
export function connectionGuide({ baseUrl, connects }: ConnectionGuide): Html {
  const address = `${baseUrl}/mcp`;
  const panels = [
    connects ? claude(address) : null,
    connects ? chatGpt(address) : null,
    otherClients(address, connects),
    terminal(baseUrl, connects),
    anyAgent(baseUrl),
  ].filter((panel) => panel !== null);
  return html`<div class="guide">${panels.map(
    ({ title, inside }, at) => html`<details name="agent"${at === 0 ? html` open` : null}>
<summary>${title}</summary>
<div>${inside}</div>
</details>`,
  )}</div>`;
}

type Panel = { title: string; inside: Html };

const signIn = html`<li>A browser window opens. Sign in with your e-mail address, choose what the agent may do, and press <b>Give access</b>.</li>`;

function claude(address: string): Panel {
  return {
    title: 'Claude',
    inside: html`<ol>
<li>In Claude, open <b>Settings</b>, then <b>Connectors</b>, and choose <b>Add custom connector</b>.</li>
<li>Name it Frontage, paste this address, and press <b>Add</b>, then <b>Connect</b>.${copyable(address, 'the address for Claude')}</li>
${signIn}
</ol>
<p>In Claude Code, run this command, then type <code>/mcp</code> to sign in:</p>
${copyable(`claude mcp add --transport http frontage ${address}`, 'the command for Claude Code')}`,
  };
}

function chatGpt(address: string): Panel {
  return {
    title: 'ChatGPT',
    inside: html`<ol>
<li>In ChatGPT, open <b>Settings</b>, then <b>Apps &amp; Connectors</b>. Under <b>Advanced settings</b>, turn on <b>Developer mode</b>.</li>
<li>Choose <b>Create</b>, name it Frontage, paste this address as the MCP server, and choose OAuth.${copyable(address, 'the address for ChatGPT')}</li>
${signIn}
<li>In a new chat, choose Frontage from the list of tools.</li>
</ol>`,
  };
}

function otherClients(address: string, connects: boolean): Panel {
  const server = connects ? { url: address } : { url: address, headers: { Authorization: 'Bearer fro_…' } };
  const settings = JSON.stringify({ mcpServers: { frontage: server } }, null, 2);
  return {
    title: 'Cursor, VS Code and other MCP clients',
    inside: html`<p>Frontage speaks the Model Context Protocol over streamable HTTP. Most clients accept this in their settings for MCP servers:</p>
${copyable(settings, 'the settings of an MCP client')}
<p>${connects ? 'The client opens a browser window, where you sign in and give access.' : 'Replace fro_… with the token from the person who runs this service.'}</p>`,
  };
}

function terminal(baseUrl: string, connects: boolean): Panel {
  const download = `curl -sO ${baseUrl}/skill/bin/frontage.mjs`;
  const login = connects
    ? 'node frontage.mjs login --email you@example.com'
    : 'FRONTAGE_TOKEN=fro_… node frontage.mjs --help';
  return {
    title: 'A terminal',
    inside: html`<p>The client is one file. It needs Node 20 or later, and an agent in a terminal can use it too.</p>
${copyable(`${download}\n${login}`, 'the commands for a terminal')}
<p>${connects ? 'You get an e-mail. Open its link and type the code that the terminal shows.' : 'Replace fro_… with the token from the person who runs this service.'} <code>node frontage.mjs --help</code> lists what it can do.</p>`,
  };
}

function anyAgent(baseUrl: string): Panel {
  return {
    title: 'Any other agent that can read web pages',
    inside: html`<p>Tell it this:</p>
${copyable(`Read ${baseUrl}/llms.txt and help me make a website.`, 'the message for an agent')}`,
  };
}
