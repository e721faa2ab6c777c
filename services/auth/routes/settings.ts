import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { presentSettings } from '../presenters/settings.ts';
import { changeSettingsBody, settingsRecord } from './setting.schema.ts';

const changeModelSettings = onDemand(async () => (await import('../settings/model-settings.ts')).changeModelSettings);
const readModelSettings = onDemand(async () => (await import('../settings/model-settings.ts')).readModelSettings);
const resetModelSettings = onDemand(async () => (await import('../settings/model-settings.ts')).resetModelSettings);

/**
 * The models of the server. What is set here wins over the environment, for every process and beyond restarts. The part
 * `vectorDb` is kept and read back for the clients that send it, and nothing else: ENGRAM_STORES chooses our index, and
 * vectors cannot be moved to another one by a setting.
 */
export function settingRoutes(deps: AuthDependencies): readonly Route[] {
  return [read(deps), change(deps), reset(deps)];
}

const path = '/api/v1/settings';
const NOT_A_SUPERUSER = { description: 'The caller is no superuser' };

function read(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'settings',
    summary: 'The models in force',
    auth: 'user',
    permission: NO_PERMISSION,
    responses: {
      200: {
        description:
          'Keys are masked, lists of models are suggestions. `vectorDb` is what was sent: it has no effect, ENGRAM_STORES chooses the index',
        schema: settingsRecord,
      },
    },
    async handle() {
      return json(presentSettings(await readModelSettings(deps)));
    },
  });
}

function change(deps: AuthDependencies): Route {
  const { configured } = deps.models;
  return defineRoute({
    method: 'POST',
    path,
    tag: 'settings',
    summary: 'Set the language model for what begins from now on; `vectorDb` is kept without effect',
    auth: 'user',
    permission: SUPERUSER,
    body: { kind: 'json', schema: changeSettingsBody(configured?.provider ?? null) },
    responses: {
      200: { description: 'Set. A blank or masked key leaves the one before', schema: nothing },
      403: NOT_A_SUPERUSER,
      503: { description: 'A key was sent, and there is no root key to seal it with (ENGRAM_ROOT_KEYS)' },
    },
    async handle({ principal, body }) {
      await changeModelSettings(deps, principal, { languageModel: body.llm, vectorDatabase: body.vectorDb });
      return json(null);
    },
  });
}

function reset(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path,
    tag: 'settings',
    summary: 'Back to the models that the environment configures',
    auth: 'user',
    permission: SUPERUSER,
    responses: { 200: { description: 'Nothing is set any more', schema: nothing }, 403: NOT_A_SUPERUSER },
    async handle({ principal }) {
      await resetModelSettings(deps, principal);
      return json(null);
    },
  });
}
