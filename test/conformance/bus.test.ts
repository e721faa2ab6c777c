import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import { busConformance } from './bus.ts';

busConformance('in process', async () => createInProcessBus({ onListenerError: () => {} }));
