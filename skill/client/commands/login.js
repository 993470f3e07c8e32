/** `login` and `logout`. */
import { hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { json, pause } from '../call.js';
import { isTerminal, log, plain, print, show, toJson } from '../output.js';
import { changeServer, emailPlaceholder, exits, readConfig, usage } from '../server.js';

/** @typedef {import('../server.js').Server} Server */
/** @typedef {import('./commands.js').Command} Command */

/** After these errors an access request is over. After any other error its code stays valid. */
const finalCodes = [
  'access_denied',
  'account_deleting',
  'expired',
  'already_redeemed',
  'signin_unavailable',
  'not_found',
];

/** @type {Command} */
export const login = {
  use: 'frontage login --email <owner> [--url <address>] [--name <agent>] [--no-wait]',
  about:
    'Request access from the owner, who receives an e-mail and enters the code shown here. With --no-wait, the command exits at once; run it again later.',
  async run({ baseUrl }, _words, { flags, json: asJson }) {
    const known = readConfig().servers[baseUrl]?.request;
    const isKnown = known && Date.parse(known.expires_at) > Date.now() && (!flags.email || flags.email === known.email);
    const request = isKnown ? known : await requestAccess(baseUrl, flags);
    // Always on the terminal, also with --json: the owner needs the code.
    const showCode = () =>
      log(
        isKnown
          ? `The code is still ${plain(request.user_code)}. An e-mail has already been sent to the owner (${plain(request.email)}), who needs to enter the code on the page it links to.`
          : `The code is ${plain(request.user_code)}. The owner (${plain(request.email)}) will receive an e-mail, and needs to enter the code on the page it links to.`,
      );
    if (!isKnown) showCode();
    for (let isFirst = isKnown; ; isFirst = false) {
      const { status, access_token } = await redeem(baseUrl, request);
      if (status === 'approved') return await finishLogin(baseUrl, access_token, asJson);
      if (isFirst) showCode();
      if (flags['no-wait']) {
        if (!asJson) log('→ run the same command again after the owner has entered the code');
        if (asJson) console.log(toJson({ status, user_code: request.user_code, expires_at: request.expires_at }));
        return exits.person;
      }
      await pause(Math.min(60, Math.max(1, Number(request.interval_seconds) || 5)) * 1000);
    }
  },
};

/** @type {Command} */
export const logout = {
  use: 'frontage logout',
  about: 'Delete the token from this machine. To revoke it, use frontage token revoke with another token.',
  async run({ baseUrl }, _words, { json: asJson }) {
    changeServer(baseUrl, { token: undefined, request: undefined });
    return show({ url: baseUrl, status: 'logged out' }, { json: asJson });
  },
};

/**
 * @param {string} baseUrl
 * @param {Record<string, string | true>} flags
 */
async function requestAccess(baseUrl, flags) {
  const email = typeof flags.email === 'string' ? flags.email : await ask('The owner’s e-mail address: ', '--email');
  const agentName = typeof flags.name === 'string' ? flags.name : `Terminal client (${hostname().slice(0, 40)})`;
  const body = { email, agent_name: agentName };
  const request = { ...(await json({ baseUrl }, 'POST', '/v1/auth/requests', { body })), email };
  changeServer(baseUrl, { request });
  return request;
}

/**
 * @param {string} baseUrl
 * @param {any} request
 */
async function redeem(baseUrl, { id, secret, email }) {
  try {
    return await json({ baseUrl }, 'POST', `/v1/auth/requests/${id}/redeem`, { body: { secret } });
  } catch (error) {
    const stop = /** @type {import('../server.js').Stop} */ (error);
    if (finalCodes.includes(stop.body?.error?.code)) changeServer(baseUrl, { request: undefined });
    if (stop.body?.error?.code === 'expired') stop.next = `frontage login --email ${email}`;
    throw stop;
  }
}

/**
 * @param {string} baseUrl
 * @param {string} token
 * @param {boolean} asJson
 */
async function finishLogin(baseUrl, token, asJson) {
  changeServer(baseUrl, { token, request: undefined });
  const account = await json({ baseUrl, token }, 'GET', '/v1/account');
  if (asJson) return show(account, { json: true });
  return print(
    `✓ You are signed in to ${baseUrl} for ${account.email} (${account.id}).\n→ Run frontage skill to learn how to build a site, and frontage account read to see the features and limits.`,
  );
}

/**
 * Asks on the terminal. Without a terminal the flag is required.
 * @param {string} question
 * @param {string} flag
 */
async function ask(question, flag) {
  if (!process.stdin.isTTY || !isTerminal)
    throw usage(`${flag} is required.`, `frontage login --email ${emailPlaceholder}`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}
