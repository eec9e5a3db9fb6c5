/* A library that stands in for NVML, in parts: tests/real/test_nvml.py compiles some of them together.
   The signatures are those of nvml.h (docs.nvidia.com/deploy/nvml-api); device i answers values that tell it apart. */

// part ALWAYS
/* INIT, DEVICES and DENIED (a device that the control group does not give; 99: none) are defined by the test. */
#include <stdio.h>
#include <time.h>
typedef int ret; typedef struct { unsigned gpu, memory; } busy;
typedef struct { unsigned long long total, free, used; } memory;
static int number[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static double seconds(void) {  /* since the first call */
    static double first; struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
    double now = t.tv_sec + 1e-9 * t.tv_nsec; if (!first) first = now; return now - first; }
static unsigned nth(void *device) { return *(int *)device; }
ret nvmlInitWithFlags(unsigned flags) { return INIT; }
ret nvmlInit_v2(void) { return INIT; }
ret nvmlInit(void) { return INIT; }
ret nvmlDeviceGetCount_v2(unsigned *count) { *count = DEVICES; return 0; }
ret nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &number[index]; return index == DENIED ? 4 : 0; }  /* NVML_ERROR_NO_PERMISSION */
ret nvmlDeviceGetName(void *device, char *name, unsigned length) {
    snprintf(name, length, "Stand-in %u", nth(device)); return 0; }
ret nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
    snprintf(uuid, length, nth(device) < 8 ? "GPU-0000%u" : "MIG-0000%u", nth(device)); return 0; }

// part READINGS
ret nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "550.54.15"); return 0; }
ret nvmlSystemGetCudaDriverVersion(int *version) { *version = 12040; return 0; }
ret nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12040; return 0; }
ret nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) { *major = 7; *minor = 0; return 0; }
ret nvmlDeviceGetUtilizationRates(void *device, busy *rates) {
    rates->gpu = 90 + nth(device); rates->memory = 40 + nth(device); return 0; }
ret nvmlDeviceGetMemoryInfo(void *device, memory *found) {
    found->total = 16ULL << 30; found->used = 4ULL << 30; found->free = 12ULL << 30; return 0; }
ret nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { *milliwatts = 250500; return 0; }
ret nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) { *milliwatts = 300000; return 0; }
ret nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    *celsius = sensor == 0 ? 61 : 999; return 0; }
ret nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz) {
    *megahertz = kind == 1 ? 1410 : kind == 2 ? 1215 : 999; return 0; }
ret nvmlDeviceGetPcieThroughput(void *device, int counter, unsigned *kilobytes) {
    *kilobytes = counter == 0 ? 1000 : 2000; return 0; }

// part NEWER_MEMORY
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory2;
ret nvmlDeviceGetMemoryInfo_v2(void *device, memory2 *found) {
    found->total = 16ULL << 30; found->reserved = 1ULL << 30; found->used = 3ULL << 30; return 0; }

// part BEYOND
// What devices since Volta tell beside that; NVLink's counters count in KiB.
typedef union { double d; unsigned ui; unsigned long ul; unsigned long long ull; } value;
typedef struct { unsigned long long at; value v; } sample;
typedef struct { unsigned field, scope; long long at, latency; unsigned type; ret answer; value v; } field;
/* Samples of itself: none at the second question, then three, the first of which was given before. */
ret nvmlDeviceGetSamples(
    void *device, int kind, unsigned long long seen, unsigned *type, unsigned *count, sample *all) {
    static unsigned long long newest = 1000; static int asked;
    if (nth(device) == 1) return 3;  /* NVML_ERROR_NOT_SUPPORTED */
    if (!all && ++asked == 2) return 6;  /* NVML_ERROR_NOT_FOUND */
    *type = 1; *count = 3; if (!all) return 0;
    for (int i = 0; i < 3; i++) { all[i].at = newest + i; all[i].v.ui = 60 + (newest + i) % 10; }
    newest += 2; return 0; }
ret nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
    *millijoules = 5000; return 0; }
ret nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) { *reasons = 0x44; return 0; }
ret nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *count) {
    *count = kind == 0 ? 3 : 1; return counter == 0 ? 0 : 3; }
ret nvmlDeviceGetFieldValues(void *device, int count, field *all) {
    for (int i = 0; i < count; i++) {
        all[i].answer = all[i].scope == 0xFFFFFFFFu ? 0 : 3; all[i].v.ull = all[i].field == 139 ? 8 : 16; }
    return 0; }

// part PROCESSES
// Version 3 of the list; the second device belongs to somebody else, and does not say how much it holds.
typedef struct { unsigned pid; unsigned long long memory; unsigned instance, compute; } process;
ret nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *all) {
    if (*count < 1) { *count = 1; return 7; }  /* NVML_ERROR_INSUFFICIENT_SIZE */
    *count = 1; all[0].pid = 1 + nth(device);
    all[0].memory = nth(device) == 0 ? 3ULL << 30 : ~0ULL;  /* NVML_VALUE_NOT_AVAILABLE */
    all[0].instance = all[0].compute = ~0u; return 0; }

// part PROCESSES_440
typedef struct { unsigned pid; unsigned long long memory; } process_440;
ret nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, process_440 *all) {
    *count = 1; all[0].pid = 1 + nth(device); all[0].memory = nth(device) == 0 ? 3ULL << 30 : ~0ULL; return 0; }

// part MIG
// Device 0 is cut into two; what is asked of a slice is answered as of a whole device, so that nobody may ask.
static int slice[2] = {80, 81};
ret nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *then) {
    *now = *then = nth(device) == 0; return 0; }
ret nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count) { *count = 7; return 0; }
ret nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **found) {
    if (index > 1) return 6;  /* NVML_ERROR_NOT_FOUND */
    *found = &slice[index]; return 0; }
ret nvmlDeviceGetGpuInstanceId(void *device, unsigned *id) { *id = nth(device) - 79; return 0; }
ret nvmlGpmMigSampleGet(void *device, unsigned instance, void *found) {
    static int turn; *(int *)found = ++turn; return nth(device) == 0 && instance <= 2 ? 0 : 2; }

// part XIDS
typedef struct { void *device; unsigned long long kind, data; unsigned a, b; } event;
static int set, left = 2;
ret nvmlEventSetCreate(void **found) { *found = &set; return 0; }
ret nvmlEventSetFree(void *found) { return 0; }
ret nvmlDeviceRegisterEvents(void *device, unsigned long long kinds, void *found) { return nth(device) == 0 ? 0 : 3; }
ret nvmlEventSetWait_v2(void *found, event *one, unsigned milliseconds) {
    if (left-- <= 0) return 10;  /* NVML_ERROR_TIMEOUT */
    one->device = &number[0]; one->kind = 8; one->data = 79; return 0; }

// part GPM
typedef struct { unsigned id; ret answer; double value; char *a, *b, *c; } metric;
typedef struct { unsigned version, count; void *older, *newer; metric all[400]; } question;
static int kept[8], at;
ret nvmlGpmQueryDeviceSupport(void *device, unsigned *two) { two[1] = nth(device) == 0; return 0; }
ret nvmlGpmSampleAlloc(void **found) { *found = &kept[at++]; return 0; }
ret nvmlGpmSampleFree(void *found) { return 0; }
ret nvmlGpmSampleGet(void *device, void *found) { static int turn; *(int *)found = ++turn; return 0; }
ret nvmlGpmMetricsGet(question *q) {
    for (unsigned i = 0; i < q->count; i++) {
        q->all[i].answer = *(int *)q->older < *(int *)q->newer ? 0 : 2;
        q->all[i].value = 10.0 * q->all[i].id; }
    return 0; }

// part SETTINGS
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char name[32]; } pci;
ret nvmlDeviceGetPciInfo_v3(void *device, pci *found) {
    sprintf(found->name, "00000000:1A:0%u.0", nth(device)); return 0; }
ret nvmlDeviceGetPersistenceMode(void *device, int *mode) { *mode = nth(device); return 0; }
ret nvmlDeviceGetApplicationsClock(void *device, int kind, unsigned *megahertz) { *megahertz = 900; return 0; }
ret nvmlDeviceGetDefaultApplicationsClock(void *device, int kind, unsigned *megahertz) { *megahertz = 1290; return 0; }
ret nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts) { *milliwatts = 250000; return 0; }
ret nvmlDeviceGetPowerManagementDefaultLimit(void *device, unsigned *milliwatts) { *milliwatts = 250000; return 0; }
