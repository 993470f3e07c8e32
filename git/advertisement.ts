/** The first answer to every clone, fetch and push: what the service can do and, before version 2 of the protocol, which branches there are. */
import { type Place, runGit } from '#providers/repositories/git.ts';
import { flush, pktLine } from './pkt-line.ts';
import type { Service } from './serve.ts';

/**
 * What git says in version 2 names no branch and is the same for all our repositories: their settings are the environment's (gitprotocol-v2(5)). Asked once
 * in the life of a process.
 */
let capabilities: Promise<Buffer> | undefined;

/** The answer's body. `protocol` is `version=1`, `version=2` or absent. */
export async function readAdvertisement(place: Place, service: Service, protocol: string | undefined): Promise<Buffer> {
  // Pushes have no version 2: a client that asks for it gets the first one.
  if (service === 'git-receive-pack' || protocol !== 'version=2') {
    const banner = pktLine(`# service=${service}\n`) + flush;
    return Buffer.concat([
      Buffer.from(banner),
      await ask(place, service, service === 'git-upload-pack' ? protocol : undefined),
    ]);
  }
  capabilities ??= ask(place, service, protocol).catch((error: unknown) => {
    capabilities = undefined;
    throw error;
  });
  return capabilities;
}

async function ask(place: Place, service: Service, protocol: string | undefined): Promise<Buffer> {
  const args = [service.slice('git-'.length), '--stateless-rpc', '--advertise-refs', place.dir];
  const { stdout } = await runGit(place, args, { environment: protocol ? { GIT_PROTOCOL: protocol } : {} });
  return stdout;
}
