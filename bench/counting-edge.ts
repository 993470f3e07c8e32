/** One edge that listens twice: at one port it counts what it answers, at the other it does not. Tells its parent both ports. */

import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { openChanges } from '../db/changes.ts';
import { openCounting } from '../edge/counting.ts';
import { openCountsDatabase } from '../edge/counts-database.ts';
import { openEdgeDatabase } from '../edge/database.ts';
import { createEdge } from '../edge/edge.ts';
import { listen } from '../edge/listen.ts';
import { openVisitors } from '../edge/visitors.ts';
import { openLog } from '../log.ts';
import { openDiskStore } from '../providers/store/disk.ts';

const config = readConfig();
const log = openLog(config, 'edge');
const edge = createEdge({
  edgeUrl: config.edgeUrl,
  tls: undefined,
  baseDomain: config.baseDomain,
  store: openDiskStore(config.storeDir as string),
  database: openEdgeDatabase(config.databaseUrl),
  changes: openChanges(config.databaseUrl, log),
  clock: systemClock,
  log,
  sitesFile: join(config.dataDir, 'edge', 'sites.json'),
  cacheBytes: config.edge.cacheBytes,
});
const counting = openCounting({
  database: openCountsDatabase(config.databaseUrl, 'bench'),
  visitors: openVisitors(config),
  clock: systemClock,
  log,
  secret: config.secret,
});
await Promise.all([edge.ready, counting.ready]);
const at = { host: '127.0.0.1', port: 0 };
const ports = [await listen(edge, { ...at, counting }), await listen(edge, at)].map(({ port }) => port);
process.send?.({ ports });
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => counting.close().then(() => process.exit(0)));
