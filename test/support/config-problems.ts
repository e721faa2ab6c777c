import { ConfigurationError, type Environment, loadConfig } from '../../services/common/platform/config/load-config.ts';

/** What the configuration says is wrong with these variables; nothing: they can be loaded. */
export function problemsOf(environment: Environment): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
