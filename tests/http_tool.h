/* tests/http_tool.h - what the two halves of http_tool share. */
#pragma once

#include <stdbool.h>

/* The word after `name`, or NULL. */
const char *tool_option(int argc, char **argv, const char *name);
bool tool_flag(int argc, char **argv, const char *name);
_Noreturn void tool_die(const char *message);
int tool_get(int argc, char **argv);
