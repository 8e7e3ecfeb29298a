#include <algorithm>

#include "studies/reproduce/data/files.h"

namespace parley::reproduce {
namespace {

using Kind = MappedColumn::Kind;

std::vector<MappedColumn> of(Kind kind, std::initializer_list<const char*> names) {
  std::vector<MappedColumn> columns;
  for (const char* name : names) columns.push_back({name, kind});
  return columns;
}

std::vector<MappedColumn> joined(std::initializer_list<std::vector<MappedColumn>> parts) {
  std::vector<MappedColumn> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// What is known of a loan when its rate is set, as the paper describes it: no identifiers, no
/// addresses, nothing of how it was paid back.
std::vector<MappedColumn> loan() {
  return joined({of(Kind::kNumber,
                    {"loan_amnt", "installment", "dti", "delinq_2yrs", "inq_last_6mths", "open_acc",
                     "pub_rec", "revol_util", "total_acc", "collections_12_mths_ex_med"}),
                 of(Kind::kLog, {"annual_inc", "revol_bal"}),
                 of(Kind::kDigits, {"term", "emp_length"}),
                 of(Kind::kCategory, {"grade", "sub_grade", "home_ownership", "verification_status",
                                      "purpose", "addr_state"})});
}

/// Without `installment`, which with amount and term would give the rate away, and here no grade
/// stands beside it.
std::vector<MappedColumn> combined_loan() {
  return joined({of(Kind::kNumber, {"loan_amnt", "term_months", "dti", "revol_util", "open_acc",
                                    "delinq_2yrs_zero", "pub_rec_zero", "emp_length"}),
                 of(Kind::kLog, {"annual_inc", "revol_bal"}),
                 of(Kind::kCategory, {"home_ownership", "purpose"})});
}

std::vector<MappedColumn> payment() {
  std::vector<MappedColumn> columns;
  for (int i = 1; i <= 28; ++i) columns.push_back({"V" + std::to_string(i), Kind::kNumber});
  columns.push_back({"Amount", Kind::kNumber});
  return columns;
}

/// No charges, costs or post codes, as in the paper.
std::vector<MappedColumn> stay() {
  return joined({of(Kind::kDigits, {"Age Group"}),
                 of(Kind::kNumber, {"CCS Diagnosis Code", "CCS Procedure Code", "APR DRG Code",
                                    "APR MDC Code", "APR Severity of Illness Code"}),
                 of(Kind::kCategory,
                    {"Gender", "Race", "Ethnicity", "Type of Admission", "Patient Disposition",
                     "APR Risk of Mortality", "APR Medical Surgical Description",
                     "Payment Typology 1", "Emergency Department Indicator"})});
}

/// Of one diagnosis only, so that its codes do not vary.
std::vector<MappedColumn> heart_failure_stay() {
  return joined({of(Kind::kDigits, {"age_group"}), of(Kind::kNumber, {"apr_severity_code"}),
                 of(Kind::kCategory, {"sex", "race", "ethnicity", "admission_type",
                                      "discharge_status", "apr_mortality_risk", "payer_primary",
                                      "payer_secondary", "proc_group", "ed_indicator"})});
}

std::vector<FileMap> all_maps() {
  const MappedColumn rate{"int_rate", Kind::kNumber}, fraud{"Class", Kind::kNumber};
  return {
      {"lending", "loan.csv", loan(), rate, "", false},
      {"lending", "lendingclub_combined.csv", combined_loan(), rate, "", true},
      {"lending", "LoanStats3a*", loan(), rate, "", true},
      {"credit", "creditcard.csv", payment(), fraud, "", false},
      {"credit", "creditcard_subset*", payment(), fraud, "", true},
      {"hospital",
       "Hospital_Inpatient_Discharges*",
       stay(),
       {"Length of Stay", Kind::kDigits},
       "Facility Name",
       false},
      {"hospital",
       "sparcs_2024_heart_failure.csv",
       heart_failure_stay(),
       {"los", Kind::kDigits},
       "hospital_id",
       true},
      {"census", "a9a", {}, {}, "", false},
      {"digits", "gisette_scale", {}, {}, "", false},
      {"digits", "gisette_like_train.libsvm", {}, {}, "", true},
  };
}

bool matches(const FileMap& map, std::string name) {
  if (name.ends_with(".zst")) name.resize(name.size() - 4);
  if (!map.file.ends_with('*')) return name == map.file;
  return name.starts_with(map.file.substr(0, map.file.size() - 1)) && name.ends_with(".csv");
}

/// In the folder and the folders in it, by name, so that the choice does not depend on the disk.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files, folders = {folder};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_directory()) folders.push_back(entry.path());
  for (const auto& each : folders)
    for (const auto& entry : std::filesystem::directory_iterator(each, none))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::span<const FileMap> file_maps() {
  static const std::vector<FileMap> maps = all_maps();
  return maps;
}

Result<FoundFile> find_file(const std::filesystem::path& folder, std::string_view data) {
  if (!std::filesystem::is_directory(folder))
    return Error{Code::kInvalid,
                 "is not a folder",
                 "Give --data the folder of the papers' files.",
                 {.file = folder.string()}};
  const auto files = files_below(folder);
  std::string wanted;
  for (const FileMap& map : file_maps()) {
    if (map.data != data) continue;
    for (const auto& path : files)
      if (matches(map, path.filename().string())) return FoundFile{&map, path};
    wanted += (wanted.empty() ? "" : ", ") + map.file;
  }
  return Error{Code::kInvalid,
               "has no file of the " + std::string(data) + " data: none of " + wanted,
               "Put one of them there, plain or packed with zstd, name other figures, or leave "
               "--data out for stand-ins. docs/reference/reproduce.md lists the columns of each.",
               {.file = folder.string()}};
}

}  // namespace parley::reproduce
