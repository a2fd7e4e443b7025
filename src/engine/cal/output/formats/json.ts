// The JSON format: an array of objects with CAL's field names, returned as data. Budgets count its compact text.
import { stringifyJson } from '../../../grain/api/json.ts';
import { projectData } from '../projection.ts';
import { type Format, type Setting, textsOf, viewOf } from './format.ts';

export function jsonFormat(setting: Setting): Format {
  return {
    showsUse: false,
    element: (grain, manner) => `${stringifyJson(projectData(grain, viewOf(setting, manner)))},`,
    document: (groups) => `[${textsOf(groups).slice(0, -1)}]`,
    data: (groups) =>
      groups.flatMap(({ elements }) =>
        elements.map(({ grain, manner }) => projectData(grain, viewOf(setting, manner))),
      ),
  };
}
