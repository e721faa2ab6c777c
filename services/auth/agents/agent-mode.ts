import type { Logger } from '../../common/ports/logger.ts';
import type { AgentConnections } from '../../common/records/auth/agent-connections.ts';

/** A server that lives for its agents only. */
export interface AgentModeSettings {
  /** How often it is looked whether any is left. */
  readonly checkEveryMs: number;
  /** Ends the process in good order. */
  readonly stopProcess: () => void;
}

/** COGNEE_AGENT_MODE: a server that a program started for itself ends when the last connection has been unregistered. */
export interface AgentMode {
  /** The first one begins the checks: before it there is nobody who could leave. */
  connectionRegistered(): void;
  close(): Promise<void>;
}

export interface AgentModeParts {
  readonly connections: Pick<AgentConnections, 'countActiveSince'>;
  readonly logger: Logger;
  /** Connections that a killed process left active are older; nobody will unregister them. */
  readonly startedAt: Date;
}

export function createAgentMode({ checkEveryMs, stopProcess }: AgentModeSettings, parts: AgentModeParts): AgentMode {
  const { connections, logger, startedAt } = parts;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();
  const check = async (): Promise<void> => {
    try {
      if ((await connections.countActiveSince(startedAt)) > 0) return;
    } catch (error) {
      // Not knowing is no reason to stop; the next check asks again.
      logger.warn('auth.agent_mode.not_checked', { error });
      return;
    }
    clearInterval(timer);
    logger.info('auth.agent_mode.unused');
    stopProcess();
  };
  return {
    connectionRegistered() {
      timer ??= setInterval(() => {
        checking = check();
      }, checkEveryMs).unref();
    },
    async close() {
      clearInterval(timer);
      await checking;
    },
  };
}
