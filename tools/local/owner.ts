/** Who owns something on a stack: an account with its first token, opened by `frontage-admin` in the stack's environment. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Owner = { account_id: string; access_token: string };

/** Opens an account and answers it with its first token. */
export async function openAccount(env: NodeJS.ProcessEnv, email: string, name: string): Promise<Owner> {
  const command = join(import.meta.dirname, '../../operator/admin.ts');
  const args = [command, 'account', 'create', '--email', email, '--name', name];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}
