/** Hosts and addresses of sites, from the configuration. */
import type { Config } from './config.ts';

/** The host of a site with this name, without the port that it may have under `npm start`: for e-mails and sentences. */
export function siteHostname({ baseDomain }: Pick<Config, 'baseDomain'>, name: string): string {
  return `${name}.${baseDomain}`;
}

/** The visitors' address of a site with this name. */
export function siteAddress(config: Pick<Config, 'baseDomain' | 'edgeUrl'>, name: string): string {
  const { protocol, port } = new URL(config.edgeUrl);
  return `${protocol}//${name}.${config.baseDomain}${port ? `:${port}` : ''}`;
}

/** The address of a site on an owner's domain, over TLS if it has a certificate. */
export function domainAddress({ publicPorts }: Pick<Config, 'publicPorts'>, name: string, isOverTls: boolean): string {
  const [scheme, port, usual] = isOverTls ? ['https', publicPorts.tls, 443] : ['http', publicPorts.http, 80];
  return `${scheme}://${name}${port === usual ? '' : `:${port}`}`;
}
