// What a template is: a definition to start from.
import type { ToolSpec } from './tool.ts';

export interface HarnessTemplate {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** Undefined: whoever provisions the harness states it. */
  readonly goal?: string | undefined;
  readonly systemPrompt: string;
  /** Name of an assemble query. */
  readonly assembleQuery: string;
  readonly tools: readonly ToolSpec[];
}
