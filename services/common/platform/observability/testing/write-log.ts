import { createLogger } from '../logger.ts';

/** Logs 2,000 lines in one turn and ends the process in the way that is asked for. */
const logger = createLogger({ level: 'info', name: 'test' });
for (let count = 0; count < 2000; count += 1) logger.info('line', { count, padding: 'x'.repeat(100) });
if (process.argv[2] === 'crash') throw new Error('crash');
process.exit(0);
