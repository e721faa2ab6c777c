import type { Logger } from '../../common/ports/logger.ts';
import type { AgentConnections } from '../../common/records/auth/agent-connections.ts';

export interface AgentModeSettings {
  /** Interval of the checks whether a connection is left. */
  readonly checkEveryMs: number;
  /** Stops the process gracefully. */
  readonly stopProcess: () => void;
}

/** COGNEE_AGENT_MODE: a server that a program started for itself stops when the last connection has been unregistered. */
export type AgentMode = ReturnType<typeof createAgentMode>;

interface AgentModeParts {
  readonly connections: Pick<AgentConnections, 'countActiveSince'>;
  readonly logger: Logger;
  /** Older connections were left active by a killed process: they are not counted. */
  readonly startedAt: Date;
}

export function createAgentMode({ checkEveryMs, stopProcess }: AgentModeSettings, parts: AgentModeParts) {
  const { connections, logger, startedAt } = parts;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();
  const check = async (): Promise<void> => {
    try {
      if ((await connections.countActiveSince(startedAt)) > 0) return;
    } catch (error) {
      // An unknown number is no reason to stop; the next check tries again.
      logger.warn('auth.agent_mode.check_failed', { error });
      return;
    }
    clearInterval(timer);
    logger.info('auth.agent_mode.unused');
    stopProcess();
  };
  return {
    /** The first registration starts the checks. */
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
