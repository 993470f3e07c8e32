/** The first response to every clone, fetch and push: the capabilities and, before protocol version 2, the branches. */
import { type Place, runGit } from '#providers/repositories/git.ts';
import { flush, pktLine } from './pkt-line.ts';
import type { Service } from './serve.ts';

/**
 * In version 2 the advertisement contains no branches and is the same for all repositories, because git is configured
 * by the environment (gitprotocol-v2(5)). Read once per process.
 */
let capabilities: Promise<Buffer> | undefined;

/** The response body. `protocol` is `version=1`, `version=2` or undefined. */
export async function readAdvertisement(place: Place, service: Service, protocol: string | undefined): Promise<Buffer> {
  // Pushes have no version 2: git then uses the first version.
  if (service === 'git-receive-pack' || protocol !== 'version=2') {
    const banner = pktLine(`# service=${service}\n`) + flush;
    return Buffer.concat([
      Buffer.from(banner),
      await ask(place, service, service === 'git-upload-pack' ? protocol : undefined),
    ]);
  }
  // Not ended with one client: others wait for it too.
  capabilities ??= ask({ dir: place.dir }, service, protocol).catch((error: unknown) => {
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
