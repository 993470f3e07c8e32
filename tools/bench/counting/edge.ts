/** An edge that listens on two ports: it counts views on one but not on the other. Sends both ports to its parent. */

import { join } from 'node:path';
import { openNotifications } from '#db/notifications.ts';
import { openViewsDatabase } from '#edge/analytics/database.ts';
import { openPageViews } from '#edge/analytics/page-views.ts';
import { createVisitors } from '#edge/analytics/visitors.ts';
import { createEdge } from '#edge/edge.ts';
import { listen } from '#edge/http/listener.ts';
import { openEdgeDatabase } from '#edge/routing/database.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import { systemClock } from '#runtime/clock.ts';
import { readConfig } from '#runtime/config.ts';
import { createLogger } from '#runtime/log.ts';

const config = readConfig();
const log = createLogger(config, 'edge');
const edge = createEdge({
  edgeUrl: config.edgeUrl,
  tls: undefined,
  baseDomain: config.baseDomain,
  store: createDiskStore(config.storeDir as string),
  database: openEdgeDatabase(config.databaseUrl),
  notifications: openNotifications(config.databaseUrl, log),
  clock: systemClock,
  log,
  sitesFile: join(config.dataDir, 'edge', 'sites.db'),
  cacheBytes: config.edge.cacheBytes,
});
const counting = openPageViews({
  database: openViewsDatabase(config.databaseUrl, 'bench'),
  visitors: createVisitors(config),
  clock: systemClock,
  log,
  secret: config.secret,
});
await Promise.all([edge.ready, counting.ready]);
const at = { host: '127.0.0.1', port: 0 };
const ports = [await listen(edge, { ...at, pageViews: counting }), await listen(edge, at)].map(({ port }) => port);
process.send?.({ ports });
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => void counting.close().then(() => process.exit(0)));
