import { type AgentModeSettings, createAgentMode } from './agents/agent-mode.ts';
import { type AccountMailOptions, createAccountMail } from './mail/account-mail.ts';
import { type AuthParts, createCommonDependencies } from './model.ts';
import { createOidcSetup } from './oidc/create-oidc-client.ts';
import type { OidcOptions } from './oidc/oidc-client.ts';

export interface AuthServiceOptions extends AuthParts {
  readonly mail: AccountMailOptions;
  /** Absent: the process does not stop when its agents have gone. */
  readonly agentMode?: AgentModeSettings;
  /** Identity providers; absent: none. */
  readonly oidc?: OidcOptions | undefined;
}

/** Creates the dependencies of all use cases, routes and messages of the service. */
export function createDependencies(options: AuthServiceOptions) {
  const { store, clock, logger, secrets, oidc, agentMode } = options;
  const tenants = (oidc?.providers ?? []).flatMap(({ tenant }) => tenant ?? []);
  const common = createCommonDependencies(options, new Set(tenants));
  const { connections } = common;
  return {
    ...common,
    mail: createAccountMail(options.mail, { store, clock, logger, jwtSecret: secrets.jwt }),
    oidc: createOidcSetup(oidc, { clock, logger }),
    agentMode:
      agentMode === undefined ? null : createAgentMode(agentMode, { connections, logger, startedAt: clock.now() }),
  };
}

export type ServiceDependencies = ReturnType<typeof createDependencies>;
