/** An account on a stack with its first token, created by `frontage-admin` in the stack's environment. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Owner = { account_id: string; access_token: string };

/** Creates an account and returns it with its first token, which the owner sees under its name. */
export async function openAccount(
  env: NodeJS.ProcessEnv,
  email: string,
  name: string,
  tokenName = 'operator',
): Promise<Owner> {
  const command = join(import.meta.dirname, '../../operator/admin.ts');
  const args = [command, 'account', 'create', '--email', email, '--name', name, '--token-name', tokenName];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}
