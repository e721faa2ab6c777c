import { z } from 'zod';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { own } from '../../common/platform/http/route-permission.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { connectingOf } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { planOf } from '../providers/slack-selection.ts';
import {
  failureOf,
  importEnded,
  importOnce,
  ownTeam,
  partsOf,
  reportOf,
  resultOf,
  saveSync,
  writableDataset,
} from '../slack/history.ts';
import { historyAnswer, historySelection, importAnswer, syncAnswer, syncBody } from './slack.schema.ts';

const permission = own('connections');
const params = z.object({ team_id: z.string() });
const REFUSED = {
  400: {
    description:
      'Not the connection of the caller, a channel that is not allowed, an import under way, or Slack refused',
  },
  403: { description: 'The dataset may not be written' },
};

const { routes, get, post, put } = routesOf<SourceDependencies>({ tag: 'integrations', permission });

/** Imports of a team's history into datasets: once, and standing. */
export const slackHistoryRoutes = routes(
  post('/api/v1/slack/history/:team_id/import', 'importSlackHistory', {
    summary: 'Bring in channels and threads now; the answer comes when they are',
    params,
    body: { kind: 'json', schema: historySelection },
    responses: { 200: { description: 'What was brought in', schema: importAnswer }, ...REFUSED },
    async handle({ params: { team_id: team }, principal, body: selection, context, signal }, dependencies) {
      const parent = await requireOwn(dependencies, principal, team);
      const dataset = await writableDataset(dependencies, { ids: [selection.dataset_id] }, context);
      const place = { parent, owner: connectingOf(principal), dataset };
      const part = await importEnded(dependencies, await importOnce(dependencies, place, selection), signal);
      const failure = failureOf(part);
      if (failure !== null) throw new HttpError(400, { detail: failure });
      return json(resultOf(part));
    },
  }),
  put('/api/v1/slack/history/:team_id/sync', 'setSlackHistorySync', {
    summary: 'Follow channels and threads from now on, or no longer; without a selection: for every dataset',
    params,
    body: { kind: 'json', schema: syncBody },
    responses: { 200: { description: 'As it is saved', schema: syncAnswer }, ...REFUSED },
    async handle({ params: { team_id: team }, principal, body, context }, dependencies) {
      const parent = await requireOwn(dependencies, principal, team);
      const { enabled, selection = null, interval_seconds } = body;
      const owner = connectingOf(principal);
      if (selection !== null) {
        const dataset = await writableDataset(dependencies, { ids: [selection.dataset_id] }, context);
        await saveSync(dependencies, { parent, owner, dataset }, { enabled, selection, interval_seconds });
        return json({ enabled, selection, interval_seconds });
      }
      for (const part of await partsOf(dependencies, parent, principal.id)) {
        const { sync } = planOf(part);
        if (sync === null || part.dataset === null) continue;
        const dataset = { id: part.dataset, name: part.datasetName };
        await saveSync(dependencies, { parent, owner, dataset }, { ...sync, enabled: false });
      }
      return json({ enabled: false, selection: null, interval_seconds });
    },
  }),
  get('/api/v1/slack/history/:team_id', 'getSlackHistory', {
    summary: 'Standing imports of a team, and how the last ones went',
    params,
    responses: {
      200: { description: 'By dataset', schema: historyAnswer },
      404: { description: 'The caller has not connected the team' },
    },
    async handle({ params: { team_id: team }, principal }, dependencies) {
      const parent = await ownTeam(dependencies, principal, team);
      if (parent === null) throw new HttpError(404, { detail: 'Slack connection not found.' });
      const parts = (await partsOf(dependencies, parent, principal.id)).filter(({ status }) => status === 'active');
      const byDataset = <T>(read: (part: SourceConnection) => T | null) =>
        Object.fromEntries(
          parts.flatMap((part) => {
            const value = read(part);
            return value === null ? [] : [[part.dataset as string, value] as const];
          }),
        );
      return json({
        sync: byDataset((part) => planOf(part).sync),
        reports: byDataset(reportOf),
        worker_enabled: dependencies.slack?.syncsHistory ?? false,
      });
    },
  }),
);

async function requireOwn(dependencies: SourceDependencies, principal: Principal, team: string) {
  const parent = await ownTeam(dependencies, principal, team);
  if (parent !== null) return parent;
  throw new HttpError(400, { detail: 'Only who connected the Slack team may import its history.' });
}
