// A call that was sent to another node, and whose answer never came: it may or may not have run.
import { EngineError } from '../../../engine/base/errors.ts';

export class LostCall extends EngineError {}
