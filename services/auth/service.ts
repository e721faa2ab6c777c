import { engramError } from '../common/kernel/errors.ts';
import { asId } from '../common/kernel/ids.ts';
import { isLimited, type Principal } from '../common/kernel/principal.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import type { RequestOf } from '../common/platform/messaging/messages.ts';
import { callerOf } from '../common/platform/messaging/messenger.ts';
import { createPrincipalSigner } from '../common/platform/messaging/principal-tokens.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { createDataset, removeDataset } from './access/datasets.ts';
import { describeAccess } from './access/describe-access.ts';
import { resolveDatasets } from './access/resolve-datasets.ts';
import { heldCapabilities } from './access/tenant-authority.ts';
import { prepareDefaultUser, reviewDefaultUser } from './accounts/default-user.ts';
import { pluginStates } from './agents/plugins.ts';
import { readQuota, setQuota } from './budgets/budgets.ts';
import { type AuthServiceOptions, createDependencies, type ServiceDependencies } from './dependencies.ts';
import { beginErasure, getEraser } from './managed/begin-erasure.ts';
import { endErasure } from './managed/end-erasure.ts';
import { admitDataset, admitOwnDataset, ensureDataset } from './managed/ensure-dataset.ts';
import { ensureTenant } from './managed/ensure-tenant.ts';
import { findManaged, releaseManaged } from './managed/managed-resources.ts';
import { openCanary } from './managed/open-canary.ts';
import { setTenantKeys } from './managed/set-tenant-keys.ts';
import { setTenantEmbedding, setTenantModel } from './managed/set-tenant-models.ts';
import { syncGrants } from './managed/sync-grants.ts';
import { accountMailRoutes } from './routes/account-mails.ts';
import { accountRoutes } from './routes/accounts.ts';
import { agentConnectionRoutes } from './routes/agent-connections.ts';
import { agentRoutes } from './routes/agents.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditRoutes } from './routes/audit.ts';
import { budgetRoutes } from './routes/budgets.ts';
import { capabilityRoutes } from './routes/capabilities.ts';
import { checkRoutes } from './routes/checks.ts';
import { configurationRoutes } from './routes/configurations.ts';
import { datasetGrantRoutes } from './routes/dataset-grants.ts';
import { deviceRoutes } from './routes/device.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { oidcRoutes } from './routes/oidc.ts';
import { pluginRoutes } from './routes/plugins.ts';
import { roleRoutes } from './routes/roles.ts';
import { scimRoutes } from './routes/scim.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { settingRoutes } from './routes/settings.ts';
import { tenantRoutes } from './routes/tenants.ts';
import { tokenKeyRoutes } from './routes/token-keys.ts';
import { userRoutes } from './routes/users.ts';
import { resealModelSettings } from './settings/model-settings.ts';
import { authenticate } from './sign-in/authenticate.ts';
import { getPrincipal } from './sign-in/get-principal.ts';
import { openTenant } from './tenants/open-tenant.ts';

/** Interval of the periodic clean-up. */
const HOUSEKEEPING_MS = 60_000;

/** Accounts, credentials and the dataset registry: see README.md. */
export function createAuthService(options: AuthServiceOptions): Service {
  const deps = createDependencies(options);
  let subscriptions: readonly Subscription[] = [];
  let review: Promise<void> = Promise.resolve();
  let resealing: Promise<void> = Promise.resolve();
  let housekeeping: NodeJS.Timeout | undefined;
  return {
    name: 'auth',
    routes: [
      ...sessionRoutes(deps),
      ...oidcRoutes(deps),
      ...deviceRoutes(deps),
      ...oauthRoutes(deps),
      ...tokenKeyRoutes(deps),
      ...accountRoutes(deps),
      ...userRoutes(deps),
      ...accountMailRoutes(deps),
      ...apiKeyRoutes(deps),
      ...agentRoutes(deps),
      ...agentConnectionRoutes(deps),
      ...pluginRoutes(deps),
      ...tenantRoutes(deps),
      ...roleRoutes(deps),
      ...datasetGrantRoutes(deps),
      ...capabilityRoutes(deps),
      ...auditRoutes(deps),
      ...scimRoutes(deps),
      ...budgetRoutes(deps),
      ...configurationRoutes(deps),
      ...settingRoutes(deps),
      ...checkRoutes(deps),
    ],
    sockets: [],
    async start() {
      await prepareDefaultUser(deps);
      await warnWithoutAccount(deps);
      subscriptions = await serve(deps, options);
      // Costs a password hash and only writes a log line, so the start does not wait for it.
      review = reviewDefaultUser(deps).catch((error: unknown) => {
        options.logger.warn('auth.default_user.review_failed', { error });
      });
      resealing = resealModelSettings(deps).catch((error: unknown) => {
        options.logger.warn('auth.model_settings.reseal_failed', { error });
      });
      housekeeping = setInterval(() => void sweep(deps), HOUSEKEEPING_MS).unref();
    },
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
      await deps.tenantActivity.settle();
      await review;
      await resealing;
      await deps.mail.outbox.stop();
      await deps.agentMode?.close();
      clearInterval(housekeeping);
      await deps.refusedLogins.record();
      await deps.passwords.close();
    },
  };
}

/** The query, for the caller or for the account whose datasets a superuser asks for. */
async function askedFor(
  deps: ServiceDependencies,
  { ofUser, ...request }: RequestOf<'auth.ResolveDatasets'>,
  caller: Principal,
) {
  if (ofUser === undefined) return { ...request, principal: caller };
  const mayAsk = caller.isSuperuser && !isLimited(caller) && request.permission === 'read';
  const user = mayAsk ? await deps.users.get(asId(ofUser)) : null;
  const asked = user && (await getPrincipal(deps, { userId: user.id, tenant: user.tenant, unattended: true }));
  if (asked === null)
    throw engramError('PermissionDeniedError', `User ${ofUser} is not active, or not yours to ask for.`);
  return { permission: request.permission, ids: request.ids ?? [], principal: asked };
}

/** Warns when sign-up is closed and there is no account: the first one to register becomes a superuser. */
async function warnWithoutAccount({ settings, users, logger }: ServiceDependencies): Promise<void> {
  if (!settings.registersFirstSuperuser || (await users.exist())) return;
  logger.warn('auth.sign_up.first_account_missing', {
    advice: 'Sign-up is closed and there is no account yet: the first account that is registered becomes a superuser.',
  });
}

/** Never fails: failures are logged, and the next run tries again. */
async function sweep({ refusedLogins, throttle, budgets, logger }: ServiceDependencies): Promise<void> {
  await budgets.sweep().catch((error: unknown) => logger.warn('auth.budgets.sweep_failed', { error }));
  await refusedLogins.record();
  await throttle.sweep().catch((error: unknown) => logger.warn('auth.login_failures.sweep_failed', { error }));
}

function serve(deps: ServiceDependencies, { messenger, secrets, clock }: AuthServiceOptions) {
  const { posture } = deps.settings;
  const signer = createPrincipalSigner(secrets.jwt, clock, secrets.acceptedJwt);
  const signed = (principal: Principal | null) => ({
    principal,
    ...(principal === null ? {} : { token: signer.sign(principal) }),
  });
  return Promise.all([
    deps.notify.listen(),
    messenger.serve('auth.Authenticate', async (request) => {
      const principal = await authenticate(deps, request);
      const closure = principal === null ? null : await openTenant(deps, principal, request.unattended);
      return {
        ...signed(principal),
        ...(closure === null ? {} : { tenantState: closure }),
        required: posture.required,
        posture: posture.reason,
      };
    }),
    messenger.serve('auth.GetPrincipal', async ({ userId, tenant, ...given }) =>
      signed(await getPrincipal(deps, { userId: asId(userId), tenant: asId(tenant), ...given })),
    ),
    messenger.serve('auth.GetPublicKeys', async () => ({ jwks: signer.publicKeys })),
    messenger.serve('auth.HeldCapabilities', async (_request, context) => ({
      capabilities: await heldCapabilities(deps, callerOf(context)),
    })),
    messenger.serve('auth.ResolveDatasets', async (request, context) => ({
      datasets: await resolveDatasets(deps, {
        ...(await askedFor(deps, request, callerOf(context))),
        signal: context.signal,
      }),
    })),
    messenger.serve('auth.DescribeAccess', (_, context) => describeAccess(deps, callerOf(context))),
    messenger.serve('auth.PluginStates', async (_, context) => ({
      plugins: await pluginStates(deps, callerOf(context)),
    })),
    messenger.serve('auth.CreateDataset', async ({ name }, context) => ({
      dataset: await createDataset(deps, callerOf(context), name),
    })),
    messenger.serve('auth.SetQuota', async (request) => {
      await setQuota(deps, request);
      return {};
    }),
    messenger.serve('auth.Usage', async ({ tenant }) => ({ usage: await readQuota(deps, tenant) })),
    ...serveOperator(deps, messenger),
    messenger.serve('auth.GetEraser', async (request) => signed(await getEraser(deps, request))),
    messenger.serve('auth.BeginErasure', async (request) => {
      const started = await beginErasure(deps, request);
      return { ...started, ...signed(started.principal) };
    }),
    messenger.serve('auth.OpenCanary', async (request) => {
      const opened = await openCanary(deps, request);
      return { ...opened, token: signer.sign(opened.principal) };
    }),
    messenger.serve('auth.SignSnapshot', async ({ sha256 }) => deps.auditHeads.signSnapshot(sha256)),
    messenger.serve('auth.CheckSnapshot', async ({ sha256, ...signed }) => ({
      isOurs: deps.auditHeads.isSnapshotSigned(sha256, signed),
    })),
    messenger.serve('auth.AdmitDataset', async (request) => {
      await admitDataset(deps, request);
      return {};
    }),
    messenger.serve('auth.AdmitOwnDataset', async (request, context) => {
      await admitOwnDataset(deps, request, callerOf(context));
      return {};
    }),
    messenger.serve('auth.EndErasure', async (request) => ({ receipt: await endErasure(deps, request) })),
    messenger.serve('auth.RemoveDataset', async ({ dataset }, context) => ({
      removed: await removeDataset(deps, dataset, callerOf(context).id),
    })),
  ]);
}

/** Methods for `Tenant` and `Dataset` resources; the bus accepts them from the operator only. */
function serveOperator(deps: ServiceDependencies, messenger: AuthServiceOptions['messenger']): Promise<Subscription>[] {
  return [
    messenger.serve('auth.EnsureTenant', (request) => ensureTenant(deps, request)),
    messenger.serve('auth.SetTenantKeys', (request) => setTenantKeys(deps, request)),
    messenger.serve('auth.SetTenantEmbedding', (request) => setTenantEmbedding(deps, request)),
    messenger.serve('auth.SetTenantModel', (request) => setTenantModel(deps, request)),
    messenger.serve('auth.EnsureDataset', (request) => ensureDataset(deps, request)),
    messenger.serve('auth.SyncGrants', (request) => syncGrants(deps, request)),
    messenger.serve('auth.FindManaged', async ({ crUid }) => ({ managed: await findManaged(deps, crUid) })),
    messenger.serve('auth.ReleaseTenant', async ({ tenantId, ...by }) => ({
      released: await releaseManaged(deps, { tenant: tenantId, dataset: null }, by),
    })),
    messenger.serve('auth.ReleaseDataset', async ({ tenantId, datasetId, crUid }) => ({
      released: await releaseManaged(deps, { tenant: tenantId, dataset: datasetId }, { crUid }),
    })),
  ];
}
