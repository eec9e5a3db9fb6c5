
#include <string.h>
struct chip { unsigned char type[32], name[32], version[32]; unsigned cores; };
struct hbm { unsigned long long size; unsigned freq; unsigned long long usage; int temp; unsigned bandwidth; };
struct ecc { int on; unsigned one, two, all_one, all_two, pages_one, pages_two; };
int dcmi_init(void) { return INIT; }
int dcmi_get_driver_version(char *text, unsigned length) { strncpy(text, "23.0.rc3", length); return 0; }
int dcmi_get_card_list(int *count, int *list, int length) { *count = 1; list[0] = 3; return 0; }
int dcmi_get_device_num_in_card(int card, int *count) { *count = card == 3 ? 3 : 0; return 0; }
int dcmi_get_device_type(int card, int device, int *kind) { *kind = device == 2; return 0; }  /* the last is an MCU */
int dcmi_get_device_logic_id(int *number, int card, int device) { *number = 1 - device; return 0; }
int dcmi_get_device_chip_info(int card, int device, struct chip *chip) {
    strcpy((char *)chip->type, "Ascend"); strcpy((char *)chip->name, "910B3"); return 0; }
int dcmi_get_device_hbm_info(int card, int device, struct hbm *hbm) { hbm->size = 65536; hbm->usage = 4096; return 0; }
int dcmi_get_device_ecc_info(int card, int device, int kind, struct ecc *ecc) {
    ecc->on = device == 0; ecc->all_one = 5; ecc->all_two = 1; return kind == 2 ? 0 : -8001; }
int dcmi_get_device_power_info(int card, int device, int *tenths) { *tenths = 938 + device; return 0; }
int dcmi_get_device_temperature(int card, int device, int *celsius) { *celsius = 46; return device; }
int dcmi_get_device_frequency(int card, int device, int kind, unsigned *megahertz) {
    *megahertz = kind == 7 ? 1800 : kind == 6 ? 1600 : 9; return 0; }
int dcmi_get_device_utilization_rate(int card, int device, int kind, unsigned *rate) {
    *rate = kind == 2 ? 91 : kind == 10 ? 40 : 9; return 0; }
