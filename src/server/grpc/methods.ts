// A front's methods by path: those of the contract, which share one handler, and the standard services.

import type { GrpcHandler, GrpcOptions } from './front.ts';
import type { Health } from './health.ts';
import type { Method } from './method.ts';
import { reflectionMethods } from './reflection.ts';
import { SERVICES } from './services.ts';

export function methodsOf(options: GrpcOptions, handler: GrpcHandler, health: Health): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>([...health.methods, ...reflectionMethods(options.allowReflection)]);
  for (const { name: service, methods: names } of SERVICES) {
    for (const name of names) methods.set(`/${service}/${name}`, { service, name, run: handler });
  }
  return methods;
}
