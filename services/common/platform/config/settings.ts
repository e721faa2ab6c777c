import type { z } from 'zod';
import { access, oidc } from './settings/access.ts';
import { budgets } from './settings/budgets.ts';
import { cluster } from './settings/cluster.ts';
import { improve, learning } from './settings/improve.ts';
import { googleIntegrations, integrations, integrationsNotes, slack } from './settings/integrations.ts';
import { mail } from './settings/mail.ts';
import { models } from './settings/models.ts';
import { operator } from './settings/operator.ts';
import { requests } from './settings/requests.ts';
import { runs } from './settings/runs.ts';
import { server } from './settings/server.ts';
import { sessions } from './settings/sessions.ts';
import { stores } from './settings/stores.ts';

/** Every setting that this build uses, by its key in `Config`. */
export const SETTINGS = {
  ...server,
  ...stores,
  ...cluster,
  ...access,
  ...mail,
  ...oidc,
  ...requests,
  ...models,
  ...runs,
  ...sessions,
  ...improve,
  ...learning,
  ...integrations,
  ...integrationsNotes,
  ...googleIntegrations,
  ...slack,
  ...budgets,
  ...operator,
};

type SettingKey = keyof typeof SETTINGS;

/** The values as read: settings without a default may be undefined. */
export type SettingValues = {
  readonly [Key in SettingKey]: (typeof SETTINGS)[Key] extends { readonly default: string }
    ? z.output<(typeof SETTINGS)[Key]['type']>
    : z.output<(typeof SETTINGS)[Key]['type']> | undefined;
};
