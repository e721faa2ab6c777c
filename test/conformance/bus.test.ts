import { createInProcessBus } from '../../services/common/adapters/in-process/bus.ts';
import { busConformance } from './bus.ts';

busConformance('in process', async () => createInProcessBus({ onListenerError: () => {} }));
